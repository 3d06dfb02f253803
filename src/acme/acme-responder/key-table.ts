// SPDX-License-Identifier: Apache-2.0

/** A served file. */
export interface ServedKey {
  /** Key of the Challenge: `namespace/name`. */
  readonly challenge: string;
  readonly token: string;
  /** Name that the file proves, in lower case. */
  readonly dnsName: string;
  /** Content of the file. */
  readonly key: string;
}

/** Served files by token. */
export class KeyTable {
  readonly #byToken = new Map<string, ServedKey[]>();
  /** Reports whether the list of Challenges is complete. */
  isComplete: () => boolean = () => false;

  /**
   * Adds or replaces the file of a Challenge. A later Challenge with the same token and name does
   * not displace an earlier one.
   */
  put(served: ServedKey): void {
    const before = this.#byToken.get(served.token) ?? [];
    const isKnown = before.some(({ challenge }) => challenge === served.challenge);
    const after = before.map((each) => (each.challenge === served.challenge ? served : each));
    this.#byToken.set(served.token, isKnown ? after : [...before, served]);
  }

  remove({ challenge, token }: Pick<ServedKey, 'challenge' | 'token'>): void {
    const left = (this.#byToken.get(token) ?? []).filter((each) => each.challenge !== challenge);
    if (left.length === 0) this.#byToken.delete(token);
    else this.#byToken.set(token, left);
  }

  /**
   * Returns the content for a token. The host does not matter for a single file, because a redirect
   * may have brought the CA from another name. Two ACME servers can use the same token: then the
   * host selects the file.
   */
  keyOf(token: string, host: string): string | undefined {
    const found = this.#byToken.get(token) ?? [];
    if (found.length === 1) return found[0]?.key;
    return found.find(({ dnsName }) => dnsName === host)?.key;
  }
}
