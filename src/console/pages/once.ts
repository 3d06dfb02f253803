// SPDX-License-Identifier: Apache-2.0
/** Work that is done once for each object: pages show the same facts many times. Pure. */
import type { SignerFacts } from '#diagnose/check/facts.ts';
import { summarizeSigner, type SignerSummary } from '#operations/show/signer-summary.ts';

/** Returns a function that works once for each object. */
export function once<T extends object, R>(work: (of: T) => R): (of: T) => R {
  const results = new WeakMap<T, { readonly value: R }>();
  return (of) => {
    const result = results.get(of) ?? { value: work(of) };
    results.set(of, result);
    return result.value;
  };
}

/** Returns a function that works once for each pair of objects. */
export function onceForBoth<A extends object, B extends object, R>(
  work: (a: A, b: B) => R,
): (a: A, b: B) => R {
  const ofFirst = once((a: A) => once((b: B) => work(a, b)));
  return (a, b) => ofFirst(a)(b);
}

/** Returns the summaries of all signers. Their bundles take long to read. */
export const summariesOf: (facts: SignerFacts) => readonly SignerSummary[] = once(({ states }) =>
  states.map(summarizeSigner),
);
