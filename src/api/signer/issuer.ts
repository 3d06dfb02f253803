// SPDX-License-Identifier: Apache-2.0
/**
 * Issuers of remote CAs: kinds of other projects, whose specs contain Countersign's fields and
 * their own.
 */
import * as z from 'zod';
import { validateSpec } from './cluster-signer-checks.ts';
import { CLUSTER_SIGNER_SPEC } from './cluster-signer-schema.ts';
import type { SignerObject } from './cluster-signer.ts';
import type { Condition } from '../request/conditions.ts';
import { invalidShape, invalidSpec } from './invalid-spec.ts';
import type { KubeObject } from '../object/object.ts';

export interface IssuerStatus {
  readonly conditions?: readonly Condition[];
}

export interface IssuerObject extends SignerObject {
  /** Fields of the kind's author. This package does not check them. */
  readonly authority: unknown;
  readonly status?: IssuerStatus;
}

/** The part of a kind's definition from which signer names are derived. */
export interface IssuerPlace {
  readonly group: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

const { profile, pods, requests, certificateRequests, trustBundle, signerName } =
  CLUSTER_SIGNER_SPEC.shape;

/**
 * `requests` has no `rules` and `deny` here. The approver evaluates them, and it knows
 * ClusterSigners only, so they would have no effect. The signing component evaluates those of
 * `certificateRequests`.
 */
const OUR_PART = z.strictObject({
  signerName: signerName.exactOptional(),
  authority: z.unknown(),
  profile,
  pods,
  requests: requests.unwrap().pick({ copy: true }).exactOptional(),
  certificateRequests,
  trustBundle,
});

/**
 * Returns the signer name of an issuer whose spec has none: `<plural>.<group>/<name>`, or
 * `<plural>.<group>/<namespace>.<name>`, like cert-manager's issuer-lib.
 */
function derivedSignerName(
  { group, plural }: IssuerPlace,
  { namespace, name }: KubeObject['metadata'],
): string {
  return `${plural}.${group}/${namespace === undefined ? name : `${namespace}.${name}`}`;
}

/**
 * Reads the Countersign part of an issuer's spec, with the defaults of a ClusterSigner.
 *
 * @throws SignerError SPEC_INVALID (`wait`) naming each invalid field and its fix
 */
export function readIssuer(
  object: KubeObject & { readonly status?: IssuerStatus },
  place: IssuerPlace,
): IssuerObject {
  const { spec: given = {}, status } = object;
  const shape = OUR_PART.safeParse(given);
  const word = place.plural.replace(/s$/, '');
  if (!shape.success) throw invalidShape(object, shape.error, word);
  const { authority, ...rest } = shape.data;
  if (place.namespaced && rest.signerName !== undefined) {
    // Otherwise the owner of a namespace could take any signer name.
    const message = 'is derived for a namespaced kind; leave it out';
    throw invalidSpec(object, [{ path: 'spec.signerName', message }]);
  }
  const spec = {
    ...rest,
    signerName: rest.signerName ?? derivedSignerName(place, object.metadata),
  };
  const faults = validateSpec({ ...spec, authority: {} });
  if (faults.length > 0) throw invalidSpec(object, faults);
  return { ...object, spec, authority, ...(status === undefined ? {} : { status }) };
}

/**
 * Returns the schema of `spec` for a CustomResourceDefinition: Countersign's fields, with their
 * defaults and limits, and `authority` as its author defines it.
 */
export function issuerSpecSchema(authority: object): object {
  const { $schema: _, ...schema } = z.toJSONSchema(OUR_PART, { io: 'input' });
  // A schema of an object has properties.
  const spec = structural(schema) as { properties: Record<string, object> };
  const chosen = spec.properties['signerName'];
  return {
    ...spec,
    properties: {
      ...spec.properties,
      authority,
      signerName: {
        ...chosen,
        'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'is immutable' }],
      },
    },
  };
}

/**
 * Removes keywords that a structural schema must not contain. The API server prunes unknown fields
 * anyway.
 */
function structural(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(structural);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(
    ([key, member]) =>
      key !== 'propertyNames' && !(key === 'additionalProperties' && member === false),
  );
  return Object.fromEntries(members.map(([key, member]) => [key, structural(member)]));
}
