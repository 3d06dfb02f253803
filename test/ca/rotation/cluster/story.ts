// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { Client } from '#kube/client/client.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import { resource } from '#kube/resource/resource.ts';
import { readCertificates, fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import { RESOURCES, type AnyRequest, type Kind } from '../../../faults/lab/wanted.ts';
import { recordedLog } from '../../../support/component/recorded-log.ts';
import type { StoredObject } from '#kube/resource/object.ts';

const BUNDLES = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'clustertrustbundles',
});

/** A leaf in somebody's hands. */
export interface Delivery {
  readonly kind: Kind;
  readonly name: string;
  readonly signerName: string;
  /**
   * etcd's revision of the write that delivered it: all objects of a cluster count by the same one,
   * so it says which bundle was served then, without any clock.
   */
  readonly revision: number;
  /** When this was heard of: Unix milliseconds. */
  readonly heardAt: number;
  readonly leaf: Certificate;
  readonly intermediates: readonly Certificate[];
}

/**
 * A bundle from this revision on, until the next one of its name; undefined where it was deleted.
 */
interface Version {
  readonly revision: number;
  readonly bundle: ClusterTrustBundle;
}

/**
 * What happened, as the API server told it: every delivery, and every bundle that was ever served.
 */
export interface Story {
  readonly deliveries: readonly Delivery[];
  /** Of requests that were denied or failed, which none of these should. */
  readonly refusals: readonly string[];
  /** Fingerprint of the CA that signed it, by key identifier; '' where no bundle ever held that. */
  issuerOf(leaf: Certificate): string;
  /** What a reader got at that revision. */
  bundleAt(name: string, revision: number): ClusterTrustBundle | undefined;
  stop(): Promise<void>;
}

/** Starts to listen; resolves once nothing that comes is missed. */
export async function listen(client: Client): Promise<Story> {
  const deliveries: Delivery[] = [];
  const refusals: string[] = [];
  const versions = new Map<string, Version[]>();
  const delivered = new Set<string>();
  /** Key identifier → fingerprint of each CA that was ever served. */
  const served = new Map<string, string>();
  const stopped = new AbortController();
  const running: Promise<void>[] = [];

  function follow(path: string, onEvent: (now: StoredObject) => void): Promise<void> {
    const reflector = createReflector<StoredObject>({
      client,
      path,
      onEvent: (_key, now) => {
        if (now !== undefined) onEvent(now);
      },
      clock: Date.now,
      delay: (ms, signal) => sleep(ms, undefined, { signal }),
      random: (size) => randomBytes(size),
      log: recordedLog(),
      metrics: { watchRestart: ignore, watchEvent: ignore, watchStopped: ignore },
    });
    running.push(reflector.run(stopped.signal));
    return reflector.whenSynced(stopped.signal);
  }

  function deliver(kind: Kind, request: AnyRequest): void {
    const { metadata, spec, status } = request as CertificateSigningRequest & PodCertificateRequest;
    if (delivered.has(metadata.uid)) return;
    const refused = status?.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed');
    if (refused !== undefined) refusals.push(`${metadata.name}: ${refused.message ?? ''}`);
    const text = status?.certificateChain ?? fromBase64(status?.certificate);
    if (text === '') return;
    delivered.add(metadata.uid);
    const [leaf, ...intermediates] = readCertificates(text);
    if (leaf === undefined) return;
    const { signerName } = spec;
    const revision = Number(metadata.resourceVersion);
    deliveries.push({
      kind,
      name: metadata.name,
      signerName,
      revision,
      heardAt: Date.now(),
      leaf,
      intermediates,
    });
  }

  await Promise.all([
    follow(RESOURCES.csr.collection(), (now) => {
      deliver('csr', now as AnyRequest);
    }),
    follow(RESOURCES.pcr.collection(), (now) => {
      deliver('pcr', now as AnyRequest);
    }),
    follow(BUNDLES.collection(), (now) => {
      const bundle = now as ClusterTrustBundle;
      const { name, resourceVersion } = bundle.metadata;
      const known = versions.get(name) ?? [];
      versions.set(name, [...known, { revision: Number(resourceVersion), bundle }]);
      for (const { raw, subjectKeyIdentifier } of readAnchors(bundle.spec.trustBundle)) {
        served.set(hex(subjectKeyIdentifier), fingerprint(raw));
      }
    }),
  ]);
  return {
    deliveries,
    refusals,
    issuerOf: ({ authorityKeyIdentifier }) => served.get(hex(authorityKeyIdentifier)) ?? '',
    bundleAt: (name, revision) =>
      versions.get(name)?.findLast((each) => each.revision <= revision)?.bundle,
    stop: async () => {
      stopped.abort(new Error('the story is over'));
      await Promise.all(running);
    },
  };
}

const ignore = (): void => undefined;

function hex(identifier: Uint8Array | undefined): string {
  return Buffer.from(identifier ?? []).toString('hex');
}

function fromBase64(text: string | undefined): string {
  return Buffer.from(text ?? '', 'base64').toString('latin1');
}
