// SPDX-License-Identifier: Apache-2.0
/**
 * `countersign.dev/v1alpha1` ExternalClusterSigner. The schema is
 * deploy/crds/externalclustersigners.yaml.
 */
import type * as z from 'zod';
import type { KubeObject } from '../object/object.ts';
import type { Condition } from '../request/conditions.ts';
import { faultsOfDerivedName, validateSpec } from '../signer/cluster-signer-checks.ts';
import type { SignerObject, SignerSpec } from '../signer/cluster-signer.ts';
import { invalidShape, invalidSpec } from '../signer/invalid-spec.ts';
import { EXTERNAL_CLUSTER_SIGNER_SPEC, VAULT_FIELDS } from './external-signer-schema.ts';

/** `spec.authority`: the CA, and the anchors that its chains must lead to. */
export type ExternalAuthority = z.output<typeof EXTERNAL_CLUSTER_SIGNER_SPEC>['authority'];

/** The component `external-signer` is the only writer. */
export interface ExternalSignerStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  /** RFC 3339: time before which no certificate is ordered, because answers were refused. */
  readonly retryAt?: string;
  /** Answers in a row that were refused. Each one may have cost a certificate. */
  readonly refusedAnswers?: number;
}

/**
 * A signer whose CA is outside Countersign. `spec.profile.backdate` is always `0s`: the CA decides
 * when a certificate begins.
 */
export interface ExternalSigner extends SignerObject {
  readonly spec: SignerSpec & { readonly authority: ExternalAuthority };
  readonly status: ExternalSignerStatus;
}

/**
 * Reads an ExternalClusterSigner. Fills in the defaults and checks each field of the spec.
 *
 * @throws SignerError SPEC_INVALID (`wait`) naming each invalid field and its fix
 */
export function readExternalSigner(
  object: KubeObject & { readonly status?: ExternalSignerStatus },
): ExternalSigner {
  const { spec: given, status = {} } = object;
  const shape = EXTERNAL_CLUSTER_SIGNER_SPEC.safeParse(given);
  if (!shape.success) throw invalidShape(object, shape.error, 'externalclustersigner');
  const { profile, requests, ...rest } = shape.data;
  const spec = {
    ...rest,
    profile: { ...profile, backdate: '0s' },
    ...(requests === undefined ? {} : { requests: { copy: VAULT_FIELDS, ...requests } }),
  };
  const faults = [
    ...faultsOfDerivedName(spec.signerName),
    ...validateSpec({ ...spec, authority: {} }),
  ];
  if (faults.length > 0) throw invalidSpec(object, faults);
  return { ...object, spec, status };
}
