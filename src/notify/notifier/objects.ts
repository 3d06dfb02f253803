// SPDX-License-Identifier: Apache-2.0

/**
 * The ConfigMap with the cursors, in the namespace of the components. The manifests create it
 * empty.
 */
export const CURSORS = 'countersign-notifier';
