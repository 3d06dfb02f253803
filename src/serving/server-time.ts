// SPDX-License-Identifier: Apache-2.0
import type { Component } from './component.ts';

/**
 * The API server's time in milliseconds, as near as its last answer tells. What is written for others
 * to go by (since when an anchor is served, until when a CA is trusted) is told by the clock that all
 * of them share, not by that of one node.
 */
export function serverTime({ clock, client }: Pick<Component, 'clock' | 'client'>): number {
  return clock() - client.clockOffset();
}
