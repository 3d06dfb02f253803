// SPDX-License-Identifier: Apache-2.0

/** Time over price that the search lets pass: prices are estimates. */
export const MAX_RATIO = 3;

/** Milliseconds of the thread's time that one expression may hold the event loop for. */
export const MAX_PAUSE_MS = 20;
