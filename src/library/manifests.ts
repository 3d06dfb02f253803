// SPDX-License-Identifier: Apache-2.0
import { issuerSpecSchema } from '../api/signer/issuer.ts';
import { checkSignerName } from '../api/signer/signer-name.ts';
import { documentsOf } from '../manifests/render.ts';
import { roleManifests } from '../manifests/roles.ts';
import type { AuthorityType } from './define.ts';
import { libraryPermissions, type SecretPlace } from './permissions.ts';
import { DEFAULT_SECRET_NAMESPACE } from '../api/signer/own-tls.ts';

/** The names that {@link roles} spells out. */
export interface RoleNames {
  /** Signer names of the issuers; at least one. */
  readonly signerNames: readonly string[];
  /** Namespace of the process. */
  readonly namespace: string;
  /** The Secrets that `secrets` names, with their namespaces; none if left out. */
  readonly secrets?: readonly SecretPlace[];
}

/**
 * Prints the ServiceAccount, roles and bindings that an authority's process needs, and no more.
 *
 * @param names - signer names, namespace and Secrets to spell out
 * @returns YAML, several documents
 * @throws SignerError SIGNER_NAME_INVALID (`fail`) for an invalid signer name
 */
export function roles<Config>(authority: AuthorityType<Config>, names: RoleNames): string {
  const { signerNames, namespace, secrets = [] } = names;
  for (const each of signerNames) checkSignerName(each);
  const leases = { namespace, secretNamespaces: [DEFAULT_SECRET_NAMESPACE] };
  const rules = libraryPermissions(authority, { signerNames, secrets, leases });
  return documentsOf(roleManifests(authority.name, namespace, rules));
}

/** A structural schema (OpenAPI v3), which `kubectl explain` shows for `spec.authority`. */
export type OpenApiSchema = Readonly<Record<string, unknown>>;

/** Any fields, unchecked by the API server. The author's `schema` still checks them. */
const ANYTHING: OpenApiSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/**
 * Prints the CustomResourceDefinition of an authority's issuer kind: our part of its spec, its status, and
 * `spec.authority`.
 *
 * @param part - the schema of `spec.authority`; any fields if left out
 * @returns YAML, one document
 */
export function crd<Config>(
  { issuer }: AuthorityType<Config>,
  part: OpenApiSchema = ANYTHING,
): string {
  const { group, version, kind, plural, namespaced } = issuer;
  const column = (name: string, field: string): object => ({
    name,
    type: 'string',
    jsonPath: `.status.conditions[?(@.type=="Ready")].${field}`,
  });
  return documentsOf([
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: namespaced ? 'Namespaced' : 'Cluster',
        names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
        versions: [
          {
            name: version,
            served: true,
            storage: true,
            subresources: { status: {} },
            additionalPrinterColumns: [column('Ready', 'status'), column('Reason', 'reason')],
            schema: {
              openAPIV3Schema: {
                type: 'object',
                required: ['spec'],
                properties: { spec: issuerSpecSchema(part), status: STATUS },
              },
            },
          },
        ],
      },
    },
  ]);
}

const text = (maxLength: number): object => ({ type: 'string', maxLength });

/** `metav1.Condition` and its bounds. */
const STATUS: OpenApiSchema = {
  type: 'object',
  properties: {
    conditions: {
      type: 'array',
      maxItems: 16,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: {
        type: 'object',
        required: ['type', 'status'],
        properties: {
          type: text(316),
          status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
          reason: text(1024),
          message: text(32_768),
          observedGeneration: { type: 'integer', format: 'int64' },
          lastTransitionTime: { type: 'string', format: 'date-time' },
        },
      },
    },
  },
};
