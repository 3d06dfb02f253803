// SPDX-License-Identifier: Apache-2.0

/**
 * When requests are to come: a Poisson process, as many independent pods make it. They are drawn
 * beforehand, so that nobody's slowness delays the next one.
 *
 * @param random - uniform in [0, 1)
 * @returns milliseconds from the beginning, ascending
 */
export function arrivals(
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
  random: () => number,
): readonly number[] {
  const all: number[] = [];
  for (let at = 0; ;) {
    at += (-Math.log(1 - random()) * 1000) / perSecond;
    if (at >= seconds * 1000) return all;
    all.push(at);
  }
}
