// SPDX-License-Identifier: Apache-2.0
/** Issuers of remote CAs: kinds of other projects, whose specs contain our fields and their own. */
import { z } from 'zod';
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
  /** The fields of the kind's author; not checked here. */
  readonly authority: unknown;
  readonly status?: IssuerStatus;
}

/** The part of a kind's definition that signer names are derived from. */
export interface IssuerPlace {
  readonly group: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

const { profile, pods, requests, certificateRequests, trustBundle, signerName } =
  CLUSTER_SIGNER_SPEC.shape;

/**
 * `requests` has no `rules` and `deny` here: the approver evaluates them, and it knows ClusterSigners only,
 * so they would have no effect. The signing component evaluates those of `certificateRequests`.
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
 * The signer name of an issuer whose spec has none: `<plural>.<group>/<name>`, or
 * `<plural>.<group>/<namespace>.<name>`, like cert-manager's issuer-lib.
 */
function derivedSignerName(
  { group, plural }: IssuerPlace,
  { namespace, name }: KubeObject['metadata'],
): string {
  return `${plural}.${group}/${namespace === undefined ? name : `${namespace}.${name}`}`;
}

/**
 * Reads our part of an issuer's spec, with the defaults of a ClusterSigner's.
 *
 * @throws SignerError SPEC_INVALID (`wait`) naming each field at fault and what to do
 */
export function readIssuer(object: KubeObject, place: IssuerPlace): IssuerObject {
  const { spec: given = {}, status } = object as KubeObject & {
    readonly spec?: unknown;
    readonly status?: IssuerStatus;
  };
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
 * The schema of `spec` for a CustomResourceDefinition: our fields, with their defaults and limits, and
 * `authority` as its author defines it.
 */
export function issuerSpecSchema(authority: object): object {
  const { $schema: _, ...schema } = z.toJSONSchema(OUR_PART, { io: 'input' });
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

/** Removes what a structural schema must not contain; the API server prunes unknown fields anyway. */
function structural(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(structural);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(
    ([key, member]) =>
      key !== 'propertyNames' && !(key === 'additionalProperties' && member === false),
  );
  return Object.fromEntries(members.map(([key, member]) => [key, structural(member)]));
}
