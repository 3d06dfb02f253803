// SPDX-License-Identifier: Apache-2.0

/** One file that is served. */
export interface ServedKey {
  /** Key of the Challenge: `namespace/name`. */
  readonly challenge: string;
  readonly token: string;
  /** Whose file it is: lower case. */
  readonly dnsName: string;
  /** Its content. */
  readonly key: string;
}

/** The files that are served, by token. */
export class KeyTable {
  readonly #byToken = new Map<string, ServedKey[]>();
  /** Whether every Challenge is known. */
  isComplete: () => boolean = () => false;

  /** One that is there keeps its place: who comes later with the same token and name does not displace it. */
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
   * The content for a token. A redirect may have brought the CA to a host of another name, so one file of the token is
   * it whatever the host. Another ACME server can use the same token for a name of its own: of several, that of the host.
   */
  keyOf(token: string, host: string): string | undefined {
    const found = this.#byToken.get(token) ?? [];
    if (found.length === 1) return found[0]?.key;
    return found.find(({ dnsName }) => dnsName === host)?.key;
  }
}
