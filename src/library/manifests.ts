// SPDX-License-Identifier: Apache-2.0
import { issuerSpecSchema } from '#api/signer/issuer.ts';
import { checkSignerName } from '#api/signer/signer-name.ts';
import { documentsOf } from '#install/documents.ts';
import { podRequestPolicyOf, podRequestsPolicy } from '#install/admission/policies.ts';
import { roleManifests, type Manifest } from '#install/roles.ts';
import { authoritiesOf, type AuthorityList } from './authorities.ts';
import type { AuthorityType } from './define.ts';
import { libraryPermissions, type SecretPlace } from './permissions.ts';
import { DEFAULT_SECRET_NAMESPACE } from '#api/signer/own-tls.ts';

/** Names in the output of {@link roles}. */
export interface RoleNames {
  /** Signer names of the issuers, at least one. */
  readonly signerNames: readonly string[];
  /** Namespace of the process. */
  readonly namespace: string;
  /** Secrets that `secrets` names, with their namespaces. Default: none. */
  readonly secrets?: readonly SecretPlace[];
}

/**
 * Prints the ServiceAccount, roles, and bindings that an authority's process needs, and no more.
 * For PodCertificateRequests, it also prints the admission policy that lets only kubelets create
 * them. Without the policy, a user who may create them in a namespace can invent pods.
 *
 * @param authority - the definition, or those of one process
 * @param names - signer names, namespace, and Secrets for the output
 * @returns YAML, several documents
 * @throws SignerError SIGNER_NAME_INVALID (`fail`) for an invalid signer name
 */
export function roles<Config, Configs extends readonly unknown[] = readonly Config[]>(
  authority: AuthorityType<Config> | AuthorityList<Configs>,
  names: RoleNames,
): string {
  const authorities = authoritiesOf(authority);
  const { signerNames, namespace, secrets = [] } = names;
  for (const each of signerNames) checkSignerName(each);
  const leases = { namespace, secretNamespaces: [DEFAULT_SECRET_NAMESPACE] };
  const [first, ...others] = authorities.map((each) =>
    libraryPermissions(each, { signerNames, secrets, leases }),
  );
  const known = new Set((first ?? []).map((rule) => JSON.stringify(rule)));
  const more = others.flat().filter((rule) => !known.has(JSON.stringify(rule)));
  return documentsOf([
    ...roleManifests(authorities[0].name, namespace, [...(first ?? []), ...more]),
    ...podRequestPolicy(authorities, signerNames),
  ]);
}

/**
 * Returns one policy for the process. It guards all names of a namespaced kind, because owners of
 * namespaces create new ones.
 */
function podRequestPolicy(
  authorities: readonly [AuthorityType, ...AuthorityType[]],
  signers: readonly string[],
): readonly Manifest[] {
  const serving = authorities.filter(({ requests }) => requests.includes('PodCertificateRequest'));
  if (serving.length === 0) return [];
  const signerDomains = serving
    .filter(({ issuer }) => issuer.namespaced)
    .map(({ issuer }) => `${issuer.plural}.${issuer.group}`);
  const guarded = { signers, signerDomains, namespacedSigners: false };
  return podRequestsPolicy(guarded, podRequestPolicyOf(authorities[0].name));
}

/** A structural schema (OpenAPI v3), which `kubectl explain` shows for `spec.authority`. */
export type OpenApiSchema = Readonly<Record<string, unknown>>;

/** Any fields, unchecked by the API server. The author's `schema` still checks them. */
const ANYTHING: OpenApiSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/**
 * Prints the CustomResourceDefinition of an authority's issuer kind: our part of its spec, its
 * status, and `spec.authority`.
 *
 * @param part - the schema of `spec.authority`. Default: any fields
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

/** `metav1.Condition` and its limits. */
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
