// SPDX-License-Identifier: Apache-2.0
import { formatTime } from '../api/object/time.ts';

/**
 * The annotation's text for an order of now. Rounded up to a whole second: cut off, it would be
 * earlier than a CA that began to sign within this second, and be taken for carried out already.
 *
 * @param now - milliseconds of the API server's clock
 */
export function orderTime(now: number): string {
  return formatTime(Math.ceil(now / 1000) * 1000);
}
