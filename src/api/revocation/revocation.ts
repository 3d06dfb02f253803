// SPDX-License-Identifier: Apache-2.0
/** `countersign.dev/v1alpha1` Revocation. The schema is deploy/crds/revocations.yaml. */
import * as z from 'zod';
import { REVOCATION_REASONS } from '#base/vocabulary.ts';
import type { KubeObject } from '../object/object.ts';
import type { Condition } from '../request/conditions.ts';
import { invalidShape } from '../signer/invalid-spec.ts';
import { MAX_SIGNER_NAME } from '../signer/signer-name.ts';
import { keysOf } from '#base/object-keys.ts';

/** Limit of certificates, or of holders, in one Revocation. */
export const MAX_REVOKED = 256;

/** Limits of the fields of {@link RevokedHolder}, as long as the API allows. */
const MAX_HOLDER_USER = 1024;
const MAX_HOLDER_NAME = 2048;
const NAMESPACE = z.string().min(1).max(63);
const OBJECT_NAME = z.string().min(1).max(253);

const HOLDER = z
  .strictObject({
    user: z.string().min(1).max(MAX_HOLDER_USER).exactOptional(),
    serviceAccount: z.strictObject({ namespace: NAMESPACE, name: OBJECT_NAME }).exactOptional(),
    pod: z
      .strictObject({
        namespace: NAMESPACE,
        name: OBJECT_NAME,
        uid: z.string().min(1).max(36).exactOptional(),
      })
      .exactOptional(),
    name: z.string().min(1).max(MAX_HOLDER_NAME).exactOptional(),
    key: z
      .string()
      .max(71)
      .regex(/^sha256:[0-9a-f]{64}$/)
      .exactOptional(),
  })
  .refine((holder) => Object.keys(holder).length === 1, 'set exactly one of its fields');

/** A holder who gets no new certificate of the signer while the Revocation exists. */
export type RevokedHolder = Readonly<z.infer<typeof HOLDER>>;

const time = z.iso.datetime({ offset: true });

const REVOCATION_SPEC = z.strictObject({
  signerName: z.string().min(1).max(MAX_SIGNER_NAME),
  reason: z.enum(keysOf(REVOCATION_REASONS)),
  certificates: z
    .array(
      z.strictObject({
        serial: z
          .string()
          .min(1)
          .max(40)
          .regex(/^[0-9a-f]+$/),
        authority: z
          .string()
          .max(71)
          .regex(/^sha256:[0-9a-f]{64}$/)
          .exactOptional(),
        notAfter: time.exactOptional(),
      }),
    )
    .min(1)
    .max(MAX_REVOKED),
  holders: z.array(HOLDER).max(MAX_REVOKED).exactOptional(),
  revokedAt: time.exactOptional(),
});

/** The certificates or holders of a Revocation. It is immutable. */
export type RevocationSpec = Readonly<z.infer<typeof REVOCATION_SPEC>>;

/** The status that `authority` writes. */
export interface RevocationStatus {
  readonly conditions?: readonly Condition[];
  /** Number of the first CRL with all its certificates. */
  readonly crlNumber?: number;
}

/** Certificates of one ClusterSigner to put on a CRL. */
export interface Revocation extends KubeObject {
  readonly spec: RevocationSpec;
  readonly status?: RevocationStatus;
}

/** Returns the RFC 3339 time from which the certificates are revoked. */
export function revokedSince({ metadata, spec }: Revocation): string {
  return spec.revokedAt ?? metadata.creationTimestamp;
}

/**
 * Reads an object as a Revocation. The CRD's schema checks `status`.
 *
 * @throws SignerError SPEC_INVALID (`wait`) naming each field at fault
 */
export function readRevocation(
  object: KubeObject & { readonly status?: RevocationStatus },
): Revocation {
  const { spec: given, status } = object;
  const shape = REVOCATION_SPEC.safeParse(given);
  if (!shape.success) throw invalidShape(object, shape.error, 'revocation');
  const read = { ...object, spec: shape.data };
  return status === undefined ? read : { ...read, status };
}
