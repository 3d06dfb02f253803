// SPDX-License-Identifier: Apache-2.0
import type { Secret } from '../api/object/object.ts';
import type { CertManagerCertificate } from '../api/workload/certificate.ts';
import { leafOfRequest, leafOfSecret, type CurrentLeaf, type IssuedRequest } from './leaf.ts';

/** What is known of the certificate in a Secret. */
export type SecretLeaf =
  | { readonly kind: 'known'; readonly leaf: CurrentLeaf }
  /** cert-manager did not issue it. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'unknown'; readonly message: string };

const FOREIGN: SecretLeaf = { kind: 'foreign' };

/**
 * The certificates of all Secrets that cert-manager issues, without a look into a Secret: the Certificate says which of its
 * CertificateRequests the Secret has, and that has the certificate in its status. The arguments of `onX` are those of a
 * watch: created without `before`, deleted without `now`.
 */
export class SecretLeaves {
  /** `namespace/secret` → the Certificates that write it, by their keys. */
  readonly #certificates = new Map<string, Map<string, CertManagerCertificate>>();
  /** `namespace/certificate` → revision → request. */
  readonly #requests = new Map<string, Map<number, IssuedRequest>>();
  /** Those that may be read, by `namespace/name`. */
  readonly #secrets = new Map<string, Secret>();

  onCertificate(
    key: string,
    now: CertManagerCertificate | undefined,
    before: CertManagerCertificate | undefined,
  ): void {
    for (const [certificate, isThere] of [
      [before, false],
      [now, true],
    ] as const) {
      const { secretName } = certificate?.spec ?? {};
      if (certificate === undefined || secretName === undefined) continue;
      const place = `${certificate.metadata.namespace ?? ''}/${secretName}`;
      const writers = this.#certificates.get(place) ?? new Map<string, CertManagerCertificate>();
      if (isThere) writers.set(key, certificate);
      else writers.delete(key);
      if (writers.size > 0) this.#certificates.set(place, writers);
      else this.#certificates.delete(place);
    }
  }

  onRequest(now: IssuedRequest | undefined, before: IssuedRequest | undefined): void {
    const old = this.#placeOf(before);
    if (old?.revisions.get(old.revision)?.metadata.uid === before?.metadata.uid) {
      old?.revisions.delete(old.revision);
      if (old?.revisions.size === 0) this.#requests.delete(old.key);
    }
    const place = this.#placeOf(now);
    if (place === undefined || now === undefined) return;
    place.revisions.set(place.revision, now);
    this.#requests.set(place.key, place.revisions);
  }

  onSecret(key: string, now: Secret | undefined): void {
    if (now === undefined) this.#secrets.delete(key);
    else this.#secrets.set(key, now);
  }

  /** The certificate that a Secret has now. */
  of(namespace: string, name: string): SecretLeaf {
    const key = `${namespace}/${name}`;
    const [writer, ...others] = this.#certificates.get(key)?.values() ?? [];
    if (others.length > 0) {
      return { kind: 'unknown', message: `several Certificates write Secret ${key}; leave one` };
    }
    const byRequest = writer === undefined ? undefined : this.#byRequest(namespace, writer);
    const leaf = byRequest ?? this.#bySecret(key);
    if (leaf !== undefined) return { kind: 'known', leaf };
    const revision = writer?.status?.revision;
    return revision === undefined ? FOREIGN : { kind: 'unknown', message: gone(key, revision) };
  }

  #bySecret(key: string): CurrentLeaf | undefined {
    const secret = this.#secrets.get(key);
    return secret === undefined ? undefined : leafOfSecret(secret);
  }

  #byRequest(
    namespace: string,
    { metadata, status = {} }: CertManagerCertificate,
  ): CurrentLeaf | undefined {
    const { revision = 0 } = status;
    const revisions = this.#requests.get(`${namespace}/${metadata.name}`);
    const issued = revisions?.get(revision)?.issued;
    if (issued === undefined) return undefined;
    return leafOfRequest(issued, revisions?.get(revision - 1)?.issued, status);
  }

  #placeOf(request: IssuedRequest | undefined):
    | {
        readonly key: string;
        readonly revision: number;
        readonly revisions: Map<number, IssuedRequest>;
      }
    | undefined {
    if (request?.issued === undefined) return undefined;
    const { certificate, revision } = request.issued;
    const key = `${request.metadata.namespace ?? ''}/${certificate}`;
    return {
      key,
      revision,
      revisions: this.#requests.get(key) ?? new Map<number, IssuedRequest>(),
    };
  }
}

function gone(secret: string, revision: number): string {
  return `the CertificateRequest of revision ${revision} behind Secret ${secret} is gone, so its certificate is not known; let pod-refresher read the Secret by --secret ${secret}`;
}
