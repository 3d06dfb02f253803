// SPDX-License-Identifier: Apache-2.0
import { byAge, type Secret } from '#api/object/object.ts';
import type { CertManagerCertificate } from '#api/workload/certificate.ts';
import { TextIndex } from '#base/text-index.ts';
import { leafOfRequest, leafOfSecret, type CurrentLeaf, type IssuedRequest } from './leaf.ts';
import * as messages from '../messages.ts';

/** State of the certificate in a Secret. */
export type SecretLeaf =
  | { readonly kind: 'known'; readonly leaf: CurrentLeaf }
  /** cert-manager did not issue it. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'unknown'; readonly message: string };

const FOREIGN: SecretLeaf = { kind: 'foreign' };

/**
 * The certificates of all Secrets that cert-manager issues, without reading Secrets. The
 * Certificate names the revision of the CertificateRequest that its Secret has, and that request
 * has the certificate in its status.
 *
 * The arguments of `onX` are those of a watch: created without `before`, deleted without `now`.
 */
export class SecretLeaves {
  /** `namespace/secret` → the Certificates that write it, by their keys. */
  readonly #certificates = new Map<string, Map<string, CertManagerCertificate>>();
  /** Issued requests, by Certificate and revision. */
  readonly #requests = new TextIndex<IssuedRequest>(({ metadata, issued }) =>
    placeOf(metadata.namespace, issued?.certificate, issued?.revision),
  );
  /** Readable Secrets, by `namespace/name`. */
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
    // A recreated request of the same name is a different one.
    if (before?.issued !== undefined) this.#requests.change(before.metadata.uid, undefined, before);
    if (now?.issued !== undefined) this.#requests.change(now.metadata.uid, now, undefined);
  }

  onSecret(key: string, now: Secret | undefined): void {
    if (now === undefined) this.#secrets.delete(key);
    else this.#secrets.set(key, now);
  }

  /** Returns the current certificate of a Secret. */
  of(namespace: string, name: string): SecretLeaf {
    const key = `${namespace}/${name}`;
    const [writer, ...others] = this.#certificates.get(key)?.values() ?? [];
    if (others.length > 0) {
      return { kind: 'unknown', message: messages.severalCertificates(key) };
    }
    const byRequest = writer === undefined ? undefined : this.#byRequest(writer);
    const leaf = byRequest ?? this.#bySecret(key);
    if (leaf !== undefined) return { kind: 'known', leaf };
    return writer?.status?.revision === undefined
      ? FOREIGN
      : { kind: 'unknown', message: gone(key, writer) };
  }

  #bySecret(key: string): CurrentLeaf | undefined {
    const secret = this.#secrets.get(key);
    return secret === undefined ? undefined : leafOfSecret(secret);
  }

  #byRequest(certificate: CertManagerCertificate): CurrentLeaf | undefined {
    const { metadata, status } = certificate;
    const { revision = 0 } = status ?? {};
    // The oldest request counts: cert-manager makes one per revision, so later ones are not what it
    // has written.
    const [issued, before] = [revision, revision - 1].map(
      (each) =>
        [...this.#requests.get(placeOf(metadata.namespace, metadata.uid, each))].sort(byAge)[0]
          ?.issued,
    );
    return issued === undefined ? undefined : leafOfRequest(issued, before, certificate);
  }
}

/**
 * Returns the key of a request. It contains the namespace, since an owner reference names a UID and
 * any user may name one of another namespace.
 */
function placeOf(namespace = '', certificate = '', revision = 0): string {
  return `${namespace} ${certificate} ${revision}`;
}

function gone(secret: string, { metadata, status }: CertManagerCertificate): string {
  const revision = status?.revision ?? 0;
  return messages.unknownLeaf(metadata.name, revision, secret);
}
