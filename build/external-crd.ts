// SPDX-License-Identifier: Apache-2.0
/**
 * Generates deploy/crds/externalclustersigners.yaml. The rules and the profile are those of
 * deploy/crds/clustersigners.yaml. test/architecture compares the files.
 */
import { parse } from 'yaml';
import { VAULT_FIELDS } from '#api/external/external-signer-schema.ts';
import { MAX_UPSTREAM_CHAIN } from '#api/signer/cluster-signer-limits.ts';
import { documentsOf } from '#install/documents.ts';
import {
  conditions,
  definitionOf,
  instant,
  object,
  text,
  type Kind,
  type Rule,
  type Schema,
} from './acme-crds/schema.ts';

const HEADER = `# SPDX-License-Identifier: Apache-2.0
# Generated from clustersigners.yaml by make crds from build/external-crd.ts: do not edit.
`;

interface Definition {
  readonly spec: {
    readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Schema } }];
  };
}

/** @param clusterSigners - text of deploy/crds/clustersigners.yaml */
export function externalCrd(clusterSigners: string): string {
  const { spec } = parse(clusterSigners) as Definition;
  const shared = spec.versions[0].schema.openAPIV3Schema.properties?.['spec']?.properties ?? {};
  return HEADER + documentsOf([definitionOf(kindOf(shared))]);
}

const LONGEST: readonly Rule[] = [
  {
    rule: "duration(self.profile.maxDuration) >= duration('10m')",
    fieldPath: '.profile.maxDuration',
    message: 'must be at least 10m, the minimum of a CertificateSigningRequest',
  },
  {
    rule: "duration(self.profile.maxDuration) <= duration('876000h')",
    fieldPath: '.profile.maxDuration',
    message: 'must be at most a hundred years',
  },
  {
    rule: "!has(self.pods) || (duration(self.profile.maxDuration) >= duration('1h') && duration(self.profile.maxDuration) <= duration('2184h'))",
    fieldPath: '.profile.maxDuration',
    message:
      'must be from 1h to 2184h if spec.pods is set, as the API requires for PodCertificateRequests',
  },
];

function kindOf(shared: Readonly<Record<string, Schema>>): Kind {
  const { signerName = {}, profile = {}, pods = {}, requests = {} } = shared;
  return {
    kind: 'ExternalClusterSigner',
    plural: 'externalclustersigners',
    scope: 'Cluster',
    group: 'countersign.dev',
    description:
      'An ExternalClusterSigner makes Countersign answer the requests for one signer name with certificates of a CA outside Countersign, such as the one of your company. It works only if the administrator has enabled the component external-signer.',
    columns: [
      { name: 'Signer', type: 'string', jsonPath: '.spec.signerName' },
      { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    ],
    selectable: ['.spec.signerName'],
    spec: object(
      ['signerName', 'authority'],
      'The desired behavior of the signer.',
      {
        signerName: signerNameOf(signerName),
        authority: authorityOf(vaultOf(shared)),
        profile: profileOf(profile),
        pods,
        requests: requestsOf(requests),
      },
      LONGEST,
    ),
    status: object([], 'Only the component external-signer writes it.', {
      observedGeneration: {
        type: 'integer',
        format: 'int64',
        description: 'Generation of the spec that the status describes.',
      },
      conditions: conditions('Ready, and why not.'),
      retryAt: instant(
        'Time of the next order, because external-signer refused answers of the CA.',
      ),
      refusedAnswers: {
        type: 'integer',
        format: 'int32',
        description:
          'Answers in a row that external-signer refused. Each of them may have cost a certificate.',
        minimum: 0,
      },
    }),
  };
}

/** Returns the schema of `upstream.vault`, whose server and login are the same. */
function vaultOf({
  authority,
}: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  const upstream = authority?.properties?.['managed']?.properties?.['upstream'];
  return upstream?.properties?.['vault']?.properties ?? {};
}

function authorityOf(upstream: Readonly<Record<string, Schema>>): Schema {
  const { server = {}, caBundle = {}, namespace = {}, mount = {}, auth = {}, issuer } = upstream;
  const { description: _, ...name } = issuer ?? {};
  return object(['vault', 'anchors'], 'The CA that issues the certificates.', {
    vault: object(
      ['server', 'mount', 'role', 'auth'],
      'A role of a PKI secrets engine of Vault or OpenBao that issues the certificates. external-signer logs in with a token of its ServiceAccount whose audience is server. The installation must list the server (external.vaults of the chart).',
      {
        server,
        caBundle,
        namespace,
        mount,
        role: {
          ...name,
          description:
            'Role of the secrets engine. It must not take names from requests: use_csr_sans, use_csr_common_name and require_cn must be false.',
        },
        auth: { ...auth, description: 'How the component external-signer logs in.' },
      },
    ),
    anchors: text(
      MAX_UPSTREAM_CHAIN,
      'Trust anchors (PEM). A chain that does not lead to one of them is refused. Publish them for verifiers yourself.',
    ),
  });
}

function profileOf({ properties = {}, ...rest }: Schema): Schema {
  const { backdate: _, crl: __, usages = {}, ...kept } = properties;
  const description =
    'Usages that a leaf may have, by their names in certificates.k8s.io. A leaf gets those of the role in Vault, and a CertificateSigningRequest must request all of these.';
  return { ...rest, properties: { ...kept, usages: { ...usages, description } } };
}

function requestsOf({ properties = {}, ...rest }: Schema): Schema {
  const { copy = {}, ...others } = properties;
  const items = { ...(copy['items'] as Schema), enum: VAULT_FIELDS };
  const description =
    'The parts of the request that the leaf contains. If omitted, all of these. Organizations cannot be copied, because Vault takes them from its role.';
  const narrowed = { ...copy, description, maxItems: VAULT_FIELDS.length, items };
  return { ...rest, properties: { copy: narrowed, ...others } };
}

function signerNameOf({ 'x-kubernetes-validations': rules, ...rest }: Schema): Schema {
  const own = (rules as readonly Rule[]).map((each) => ({
    ...each,
    message: each.message.replace('another ClusterSigner', 'another ExternalClusterSigner'),
  }));
  return { ...rest, 'x-kubernetes-validations': own };
}
