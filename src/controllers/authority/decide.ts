// SPDX-License-Identifier: Apache-2.0
import {
  isDistrusted,
  secretOf,
  type AuthorityStatus,
  type ClusterSigner,
  type ClusterSignerStatus,
} from '../../api/cluster-signer.ts';
import { hasTrueCondition } from '../../api/conditions.ts';
import { isGranted, SIGNER_NAME } from '../../api/grant.ts';
import type { Secret } from '../../api/object.ts';
import type { AuthorityFacts } from '../../authorities/contract.ts';
import { SignerError } from '../../errors.ts';
import { currentAuthorities, nextDeadline } from './authorities.ts';
import { statusOf, type Finding } from './status.ts';

/** What a look at the CA Secret gave. An error of the look is not "missing". */
export type SecretLook =
  | { readonly kind: 'unknown'; readonly failure: string | undefined }
  | { readonly kind: 'missing' }
  | { readonly kind: 'found'; readonly secret: Secret };

export interface Snapshot {
  readonly signer: ClusterSigner;
  /** The elder ClusterSigner with the same signer name, when there is one. */
  readonly elder: string | undefined;
  /** Why the spec cannot be served, when it cannot. */
  readonly specError: SignerError | undefined;
  readonly secret: SecretLook;
  /** Opens the Secret's CA: its public half, or what is wrong with it. */
  readonly inspect: (secret: Secret) => AuthorityFacts | SignerError;
  readonly now: number;
}

export interface Plan {
  /** Make the managed CA's Secret first; the status follows when it is seen. */
  readonly createSecret: boolean;
  readonly status: ClusterSignerStatus;
  readonly requeueAt: number | undefined;
}

/** How soon a Secret that could not be read is looked at again; its watch usually tells sooner. */
const LOOK_AGAIN_MS = 5_000;
/** A CA of tomorrow, or one that a fast clock made, becomes valid without anybody touching it. */
const INSPECT_AGAIN_MS = 30_000;

/** Decides one ClusterSigner. Synchronous and total. */
export function decide(snapshot: Snapshot): Plan {
  const { signer, now } = snapshot;
  if (snapshot.secret.kind === 'unknown' && isReady(signer) && signer.status !== undefined) {
    // A look that failed says nothing against what was checked before.
    return { createSecret: false, status: signer.status, requeueAt: now + LOOK_AGAIN_MS };
  }
  const finding = find(snapshot);
  const authorities = currentAuthorities({ signer, active: finding.active, now });
  return {
    createSecret: finding.createSecret ?? false,
    status: statusOf({ signer, finding, authorities, now }),
    requeueAt: requeueAt(snapshot, finding, authorities),
  };
}

function requeueAt(
  { secret, now }: Snapshot,
  { inspected = false, active }: Finding,
  authorities: readonly AuthorityStatus[],
): number | undefined {
  if (secret.kind === 'unknown') return now + LOOK_AGAIN_MS;
  if (inspected && active === undefined) return now + INSPECT_AGAIN_MS;
  return nextDeadline(authorities, now);
}

function isReady(signer: ClusterSigner): boolean {
  const current = signer.status?.observedGeneration === signer.metadata.generation;
  return current && hasTrueCondition(signer.status?.conditions, 'Ready');
}

function find(snapshot: Snapshot): Finding {
  const { signer, elder, specError, secret } = snapshot;
  if (elder !== undefined) {
    return {
      reason: 'SignerNameTaken',
      message: `ClusterSigner "${elder}" is older and serves ${signer.spec.signerName}; choose another signer name or delete one of the two`,
    };
  }
  if (specError !== undefined) return { reason: 'InvalidSpec', message: specError.message };
  if (secret.kind === 'unknown') {
    return {
      // Before the first list is over nothing is wrong, and nobody need be warned.
      reason: secret.failure === undefined ? 'Initializing' : 'AuthorityUnavailable',
      message: `Secret ${where(signer)} could not be read yet: ${secret.failure ?? 'not listed yet'}`,
    };
  }
  return secret.kind === 'missing' ? findMissing(signer) : findPresent(snapshot, secret.secret);
}

function findMissing(signer: ClusterSigner): Finding {
  if (signer.spec.authority.managed !== undefined) {
    return {
      reason: 'Initializing',
      message: `making the CA in Secret ${where(signer)}`,
      createSecret: true,
    };
  }
  return {
    reason: 'SecretNotFound',
    message: `Secret ${where(signer)} does not exist; create it (type kubernetes.io/tls) with the annotation ${SIGNER_NAME}: ${signer.spec.signerName}`,
  };
}

function findPresent(snapshot: Snapshot, secret: Secret): Finding {
  const { signer } = snapshot;
  if (!isGranted(secret, signer.spec.signerName)) {
    return {
      reason: 'SecretNotGranted',
      message: `Secret ${where(signer)} does not grant its key to this signer; its owner does that with the annotation ${SIGNER_NAME}: ${signer.spec.signerName}`,
    };
  }
  const facts = snapshot.inspect(secret);
  if (facts instanceof SignerError) {
    const reason = facts.code === 'ANCHOR_MISSING' ? 'NoTrustAnchor' : 'AuthorityUnavailable';
    return { reason, message: `Secret ${where(signer)}: ${facts.message}`, inspected: true };
  }
  if (isDistrusted(signer.spec, facts.fingerprint)) {
    return {
      reason: 'AuthorityUnavailable',
      message: `Secret ${where(signer)} holds ${facts.fingerprint}, which spec.authority.managed.distrusted names; delete the Secret, and a new CA is made`,
    };
  }
  return { reason: 'Checked', message: `signing with ${facts.fingerprint}`, active: facts };
}

function where(signer: ClusterSigner): string {
  const { namespace, name } = secretOf(signer.spec);
  return `${namespace}/${name}`;
}
