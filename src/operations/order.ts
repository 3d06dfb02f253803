// SPDX-License-Identifier: Apache-2.0

/** The only fields that a verb ever writes. */
export interface Change {
  /** `metadata.annotations` to set. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Fingerprints to add to `spec.authority.managed.distrusted`. */
  readonly distrust?: readonly string[];
}

/** Why an order is not to be given. */
export interface Objection {
  readonly message: string;
  /** `--force` does not help: there is nothing that could be written. */
  readonly absolute?: boolean;
}

/** What a gate makes of a verb. */
export interface Order {
  /** The CA that it is about, where there is one. */
  readonly target?: string;
  /** Undefined where nothing is to be written. */
  readonly change?: Change;
  readonly objections: readonly Objection[];
  /** What happens now, and when. */
  readonly notes: readonly string[];
}

/** An order that cannot be given at all. */
export function never(message: string): Order {
  return { objections: [{ message, absolute: true }], notes: [] };
}

/** Why it is refused; empty when it may be given. */
export function refusalsOf({ objections }: Order, force: boolean): readonly Objection[] {
  return objections.filter(({ absolute }) => !force || absolute === true);
}
