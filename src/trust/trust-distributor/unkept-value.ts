// SPDX-License-Identifier: Apache-2.0
/**
 * Stands for a value of a ConfigMap that is too long to keep. A client that writes this text gets
 * no more than by a long one.
 */
export const UNKEPT_VALUE = '<unkept>';
