// SPDX-License-Identifier: Apache-2.0
/** `acme.countersign.dev/v1alpha1` Challenge. The schema is deploy/crds/acme/challenges.yaml. */
import * as z from 'zod';
import { invalidShape } from '../signer/invalid-spec.ts';
import type { KubeObject } from '../object/object.ts';
import { instant, objectName, serverUrl, signerRef, text, token, waiting } from './fields.ts';

const spec = z.object({
  signerRef,
  /** The Order, in the same namespace. */
  orderRef: z.object({ name: objectName, uid: text(64) }),
  authorizationURL: serverUrl,
  url: serverUrl,
  type: z.enum(['http-01', 'dns-01', 'dns-persist-01']),
  token: token.exactOptional(),
  /** Content of the file (http-01), or value of the TXT record (dns-01). */
  key: text(1024)
    .regex(/^[A-Za-z0-9_.-]+$/)
    .exactOptional(),
  /** DNS name without `*.` for a wildcard, or the address of an `ip` identifier. */
  dnsName: text(253),
  wildcard: z.boolean().default(false),
  /** Name of the solver in the signer. */
  solver: text(63),
});

const status = z.object({
  /** State of the authorization at the server. */
  state: z
    .enum(['pending', 'processing', 'valid', 'invalid', 'expired', 'revoked', 'deactivated'])
    .exactOptional(),
  /** The Challenge has a slot. */
  processing: z.boolean().exactOptional(),
  presented: z.boolean().exactOptional(),
  presentedAt: instant.exactOptional(),
  ...waiting,
  /** `acme-solver` is the only writer of this field. `acme` writes everything else. */
  solver: z
    .object({
      presented: z.boolean().exactOptional(),
      reason: text(64).exactOptional(),
      message: text(4096).exactOptional(),
      changedAt: instant.exactOptional(),
      at: text(1024).exactOptional(),
      nextAttemptAt: instant.exactOptional(),
    })
    .exactOptional(),
});

export const CHALLENGE_SPEC = spec;
export const CHALLENGE_STATUS = status;

export type ChallengeSpec = z.output<typeof spec>;
export type ChallengeObjectStatus = z.output<typeof status>;
/** The part of the status in which `acme-solver` reports its progress. */
export type SolverReport = NonNullable<ChallengeObjectStatus['solver']>;

/** The proof of control of one name of an Order. */
export interface Challenge extends KubeObject {
  readonly spec: ChallengeSpec;
  readonly status: ChallengeObjectStatus;
}

/** @throws SignerError SPEC_INVALID, which only a user who may write CRDs can cause */
export function readChallengeObject(object: KubeObject & { readonly status?: unknown }): Challenge {
  const read = z
    .object({ spec, status })
    .safeParse({ spec: object.spec, status: object.status ?? {} });
  if (!read.success) throw invalidShape(object, read.error, 'challenge');
  return { ...object, ...read.data };
}

/**
 * Reports whether the record or file must exist: the Challenge has a slot, and `acme` has read its
 * state from the server. Otherwise the solver removes what it presented.
 */
export function isToBePresented({ metadata, status: { processing, state } }: Challenge): boolean {
  return metadata.deletionTimestamp === undefined && processing === true && state === 'pending';
}
