// SPDX-License-Identifier: Apache-2.0
/** Keys of the labels that Kubernetes recommends for the objects of an application. */
export const LABEL_NAME = 'app.kubernetes.io/name';
export const LABEL_COMPONENT = 'app.kubernetes.io/component';
