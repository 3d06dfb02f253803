// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';

/**
 * A CA that is out of trust while its leaves may be valid. Times are milliseconds since the epoch.
 */
export interface DistrustedCa {
  /** SHA-256 of its certificate in hex. */
  readonly hash: string;
  /** subjectKeyIdentifier in hex, or undefined if its certificate is not known. */
  readonly keyId: string | undefined;
  /** Time by which it had stopped signing, or undefined while unknown. */
  readonly stoppedBy: number | undefined;
  /** Time by which all its leaves have expired. */
  readonly leavesEndBy: number;
}

/** The CAs of a signer, as far as restarts depend on them. */
export interface SignerCas {
  readonly distrusted: readonly DistrustedCa[];
  /** True if a trusted CA signs. Otherwise a new pod gets no leaf. */
  readonly signs: boolean;
}

/** A ClusterSigner reduced to its name and its CAs. */
export interface TrustedSigner extends KubeObject {
  readonly signerName: string;
  readonly trust: SignerCas;
}

const UNKNOWN: SignerCas = { distrusted: [], signs: true };

/** The CAs of all ClusterSigners, updated by a watch. */
export class SignerTrusts {
  readonly #signers = new Map<string, Pick<TrustedSigner, 'signerName' | 'trust'>>();
  #version = 0;

  onSigner(key: string, now: TrustedSigner | undefined): void {
    const next = now && { signerName: now.signerName, trust: now.trust };
    if (JSON.stringify(this.#signers.get(key)) === JSON.stringify(next)) return;
    if (next === undefined) this.#signers.delete(key);
    else this.#signers.set(key, next);
    this.#version += 1;
  }

  /** A number that changes with each change of CAs. */
  get version(): number {
    return this.#version;
  }

  /**
   * Returns the CAs of a signer whose leaves may be valid. A signer without a ClusterSigner has no
   * known distrusted CA.
   */
  of(signerName: string, now: number): SignerCas {
    // If two ClusterSigners claim one name, a CA that either of them distrusts counts.
    const found = this.#trusts((each) => each.signerName === signerName);
    if (found.length === 0) return UNKNOWN;
    return {
      distrusted: found.flatMap((each) => livingOf(each, now)),
      signs: found.some(({ signs }) => signs),
    };
  }

  /** Reports whether a leaf of a distrusted CA may be valid. */
  isAnyDistrusted(now: number): boolean {
    return this.#trusts(() => true).some((each) => livingOf(each, now).length > 0);
  }

  #trusts(isWanted: (signer: Pick<TrustedSigner, 'signerName'>) => boolean): readonly SignerCas[] {
    return [...this.#signers.values()].filter(isWanted).map(({ trust }) => trust);
  }
}

function livingOf({ distrusted }: SignerCas, now: number): readonly DistrustedCa[] {
  return distrusted.filter(({ leavesEndBy }) => leavesEndBy > now);
}
