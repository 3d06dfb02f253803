// SPDX-License-Identifier: Apache-2.0

/** Time over price that the search lets pass: prices are estimates. */
export const MAX_RATIO = 3;

/**
 * Milliseconds of the thread's time that a spec may hold the event loop for. What is not watched is
 * held to it by its price: 6 ms (`deadline.ts`), and {@link MAX_RATIO} times that.
 */
export const MAX_PAUSE_MS = 20;
