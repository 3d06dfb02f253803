// SPDX-License-Identifier: Apache-2.0
/** `countersign.dev/v1alpha1` Revocation. The schema is deploy/crds/revocations.yaml. */
import { z } from 'zod';
import { REVOCATION_REASONS, type CrlReason } from '../../vocabulary.ts';
import type { KubeObject } from '../object/object.ts';
import type { Condition } from '../request/conditions.ts';
import { GROUP, VERSION } from '../signer/cluster-signer.ts';
import { invalidShape } from '../signer/invalid-spec.ts';
import { MAX_SIGNER_NAME } from '../signer/signer-name.ts';

/** The group, the version and the plural of {@link Revocation}. */
export const REVOCATIONS = { group: GROUP, version: VERSION, plural: 'revocations' } as const;

/** Certificates, or holders, of one Revocation. */
export const MAX_REVOKED = 256;

/** The condition of a Revocation: whether the CRLs have its certificates. */
export const LISTED = 'Listed';

/** The ConfigMap with the CRLs of the CAs in a Secret, in the Secret's namespace. */
export function crlConfigMapName(secretName: string): string {
  return `${secretName}-crl`;
}

/** What {@link RevokedHolder} may say, each at most as long as the API allows. */
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

/** Who gets no new certificate of the signer while the Revocation stands. */
export type RevokedHolder = Readonly<z.infer<typeof HOLDER>>;

const time = z.iso.datetime({ offset: true });

const REVOCATION_SPEC = z.strictObject({
  signerName: z.string().min(1).max(MAX_SIGNER_NAME),
  reason: z.enum(Object.keys(REVOCATION_REASONS) as [CrlReason, ...CrlReason[]]),
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

/** What a Revocation revokes. It is immutable. */
export type RevocationSpec = Readonly<z.infer<typeof REVOCATION_SPEC>>;

/** What `authority` writes of a Revocation. */
export interface RevocationStatus {
  readonly conditions?: readonly Condition[];
  /** Of the first CRL that had all its certificates. */
  readonly crlNumber?: number;
}

/** Certificates of one ClusterSigner that are to be on a CRL. */
export interface Revocation extends KubeObject {
  readonly spec: RevocationSpec;
  readonly status?: RevocationStatus;
}

/**
 * Reads an object as a Revocation.
 *
 * @throws SignerError SPEC_INVALID (`wait`) naming each field at fault
 */
export function readRevocation(object: KubeObject): Revocation {
  const { spec: given, status } = object as KubeObject & {
    readonly spec?: unknown;
    readonly status?: RevocationStatus;
  };
  const shape = REVOCATION_SPEC.safeParse(given);
  if (!shape.success) throw invalidShape(object, shape.error, 'revocation');
  const read = { ...object, spec: shape.data };
  return status === undefined ? read : { ...read, status };
}
