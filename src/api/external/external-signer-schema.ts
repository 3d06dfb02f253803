// SPDX-License-Identifier: Apache-2.0
/**
 * The schema of `spec`, with the CRD's defaults. It rejects unknown fields: a component must not
 * silently ignore a restriction that its version does not know.
 */
import * as z from 'zod';
import { REQUEST_FIELDS, type RequestField } from '#base/vocabulary.ts';
import {
  CLUSTER_SIGNER_SPEC,
  vaultName,
  vaultPath,
  vaultPlace,
} from '../signer/cluster-signer-schema.ts';
import { MAX_UPSTREAM_CHAIN } from '../signer/cluster-signer-limits.ts';

/** Names that a call of Vault can request. Organizations come from the role of the engine. */
export const VAULT_FIELDS = REQUEST_FIELDS.filter(
  (field): field is Exclude<RequestField, 'organizations' | 'organizationalUnits'> =>
    field !== 'organizations' && field !== 'organizationalUnits',
);

const vault = z.strictObject({
  ...vaultPlace,
  role: vaultName,
  auth: z.strictObject({ mount: vaultPath.default('kubernetes'), role: vaultName }),
});

const authority = z.strictObject({
  vault,
  anchors: z.string().min(1).max(MAX_UPSTREAM_CHAIN),
});

const { signerName, profile, pods, requests } = CLUSTER_SIGNER_SPEC.shape;

/** The CA decides when a certificate begins, and signs its own CRLs. */
const externalProfile = profile.unwrap().omit({ backdate: true, crl: true }).prefault({});

const externalRequests = requests
  .unwrap()
  .extend({ copy: z.array(z.enum(VAULT_FIELDS)).max(VAULT_FIELDS.length).exactOptional() });

export const EXTERNAL_CLUSTER_SIGNER_SPEC = z.strictObject({
  signerName,
  authority,
  profile: externalProfile,
  pods,
  requests: externalRequests.exactOptional(),
});
