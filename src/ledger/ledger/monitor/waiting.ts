// SPDX-License-Identifier: Apache-2.0
/** Certificates that wait for their comparison or their record. */

/** A certificate that was not compared yet, or that has no record yet. */
export interface UnconfirmedCertificate {
  readonly der: Uint8Array;
  readonly seenIn: string;
  /** Time of the first query that did not find a record. */
  since: number | undefined;
  /**
   * Explanation that is counted for its gap already. Otherwise a failed write of the finding would
   * count the certificate twice.
   */
  explanation?: string | undefined;
}

/**
 * Bytes from which a certificate has to be of a managed CA to wait. They suffice for some twenty
 * thousand certificates.
 */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
/** Bytes beyond which no certificate waits. */
const MAX_MANAGED_BYTES = 4 * MAX_WAITING_BYTES;
/** Bytes of an entry beside the certificate, at most. */
const ENTRY_BYTES = 512;

/** The waiting certificates, by fingerprint, in the order in which they were seen. */
export class WaitingCertificates {
  readonly #entries = new Map<string, UnconfirmedCertificate>();
  #bytes = 0;

  /** Reports whether only certificates of managed CAs are added. */
  get isFull(): boolean {
    return this.#bytes >= MAX_WAITING_BYTES;
  }

  has(print: string): boolean {
    return this.#entries.has(print);
  }

  entries(): readonly (readonly [print: string, waiting: UnconfirmedCertificate])[] {
    return [...this.#entries];
  }

  /**
   * Adds a certificate that does not wait yet. Returns false if there is no room for it.
   * @param isManaged - reports whether a managed CA has signed it, which takes too long to know of
   *   every certificate
   */
  add(print: string, waiting: UnconfirmedCertificate, isManaged: () => boolean): boolean {
    if (this.#bytes >= MAX_MANAGED_BYTES || (this.isFull && !isManaged())) return false;
    this.#entries.set(print, waiting);
    this.#bytes += bytesOf(waiting);
    return true;
  }

  delete(print: string): void {
    const waiting = this.#entries.get(print);
    if (waiting === undefined) return;
    this.#entries.delete(print);
    this.#bytes -= bytesOf(waiting);
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }
}

function bytesOf({ der }: UnconfirmedCertificate): number {
  return der.length + ENTRY_BYTES;
}
