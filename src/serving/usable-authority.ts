// SPDX-License-Identifier: Apache-2.0
import { isDistrusted, type ClusterSigner } from '../api/cluster-signer.ts';
import { servedSince, type ClusterTrustBundle } from '../api/cluster-trust-bundle.ts';
import { findCondition } from '../api/conditions.ts';
import { SIGNER_NAME, isGranted } from '../api/grant.ts';
import type { Secret } from '../api/object.ts';
import type { Authority, AuthorityMaterial } from '../authorities/contract.ts';
import { SignerError } from '../errors.ts';
import { requireServedAnchor } from '../issuance/gate.ts';
import { fingerprint } from '../pki/certificate.ts';
import { anchorFingerprints } from '../pki/trust-bundle.ts';

export interface UsableInput {
  readonly signer: ClusterSigner;
  readonly secret: Secret | undefined;
  readonly bundle: ClusterTrustBundle | undefined;
  readonly open: (secret: Secret) => Authority;
  readonly propagationSeconds: number;
  readonly now: number;
}

/**
 * The CA that a signer may sign with at this moment. Everything that `authority` checked is checked
 * again here: the status is somebody else's word, the Secret may have changed since.
 *
 * @throws SignerError (`authority`) saying what is missing; requests wait
 */
export function usableAuthority(input: UsableInput): Authority {
  const { signer, secret } = input;
  requireReady(signer);
  if (secret === undefined) {
    throw unusable('AUTHORITY_MISSING', 'its CA Secret does not exist');
  }
  if (!isGranted(secret, signer.spec.signerName)) {
    throw unusable(
      'AUTHORITY_MISSING',
      `its CA Secret lacks the annotation ${SIGNER_NAME}: ${signer.spec.signerName}`,
    );
  }
  const authority = input.open(secret);
  if (isDistrusted(signer.spec, authority.facts.fingerprint)) {
    throw unusable('AUTHORITY_INVALID', 'its CA is among spec.authority.managed.distrusted');
  }
  if (input.now >= authority.facts.notAfter) {
    throw unusable('AUTHORITY_EXPIRED', 'its CA certificate has expired');
  }
  if (signer.spec.trustBundle !== undefined) requireAnchors(input, authority);
  return authority;
}

function requireReady(signer: ClusterSigner): void {
  const ready = findCondition(signer.status?.conditions, 'Ready');
  if (ready === undefined || signer.status?.observedGeneration !== signer.metadata.generation) {
    throw unusable(
      'AUTHORITY_MISSING',
      `ClusterSigner ${signer.metadata.name} has not been checked by the authority component yet`,
    );
  }
  if (ready.status !== 'True') {
    throw unusable(
      'AUTHORITY_MISSING',
      `ClusterSigner ${signer.metadata.name} is not ready: ${ready.reason ?? ''}: ${ready.message ?? ''}`,
    );
  }
}

/** What a bundle says of its anchors. */
interface Served {
  /** Undefined when there is no bundle yet. */
  readonly published: ReadonlySet<string> | undefined;
  readonly servedSince: ReadonlyMap<string, number>;
}

const NOTHING_SERVED: Served = { published: undefined, servedSince: new Map() };

/** Read once for each version of a bundle, not for each request: an object is replaced, never changed. */
const known = new WeakMap<ClusterTrustBundle, Served>();

function servedBy(bundle: ClusterTrustBundle | undefined): Served {
  if (bundle === undefined) return NOTHING_SERVED;
  const before = known.get(bundle);
  if (before !== undefined) return before;
  const published = anchorFingerprints(bundle.spec.trustBundle);
  const served = { published, servedSince: servedSince(bundle) };
  known.set(bundle, served);
  return served;
}

/** Every anchor must be served: which of them a verifier will need is not ours to know. */
function requireAnchors(input: UsableInput, authority: Authority): void {
  const { bundle, now, propagationSeconds } = input;
  const served = servedBy(bundle);
  for (const anchor of authority.facts.anchors) {
    requireServedAnchor({ anchor: fingerprint(anchor.raw), ...served, propagationSeconds, now });
  }
}

/** The texts of a `kubernetes.io/tls` Secret with an optional `ca.crt`. */
export function materialOf(secret: Secret): AuthorityMaterial {
  const text = (key: string): string =>
    Buffer.from(secret.data?.[key] ?? '', 'base64').toString('latin1');
  const anchors = text('ca.crt');
  return {
    certificate: text('tls.crt'),
    key: text('tls.key'),
    anchors: anchors === '' ? undefined : anchors,
  };
}

function unusable(
  code: 'AUTHORITY_MISSING' | 'AUTHORITY_INVALID' | 'AUTHORITY_EXPIRED',
  message: string,
): SignerError {
  return new SignerError({ code, disposition: 'authority', message });
}
