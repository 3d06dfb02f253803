// SPDX-License-Identifier: Apache-2.0
/**
 * Makes deploy/crds/signers.yaml of deploy/crds/clustersigners.yaml: the same fields with the same
 * bounds and descriptions, less those that are not a namespace's to say. test/architecture compares.
 */
import { parse } from 'yaml';
import { documentsOf } from '../src/manifests/render.ts';
import type { Manifest } from '../src/manifests/roles.ts';

/** As much of a CustomResourceDefinition as is changed here. */
interface Definition {
  readonly spec: { readonly versions: readonly Version[] };
}

interface Version extends Manifest {
  readonly additionalPrinterColumns: readonly Manifest[];
  readonly schema: { readonly openAPIV3Schema: Schema };
}

interface Schema {
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string }[];
}

const HEADER = `# SPDX-License-Identifier: Apache-2.0
# Made of clustersigners.yaml by make crds: the same fields, less those that are not a namespace's to
# say. docs/reference/signer.md says which.
`;

const SIGNER_NAME =
  'The signer name that requests carry, signers.countersign.dev/<namespace>.<name>. It is derived, and cannot be chosen.';

/** What is said of a field of both kinds where the words are of one of them. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  '': 'A Signer makes Countersign answer the requests of its own namespace with a CA that lies there: what a leaf may be, and who gets one. Its signer name is signers.countersign.dev/<namespace>.<name>. It is served where the administrator has opted in.',
  kind: 'Signer.',
  'spec.authority': 'The CA behind the signer.',
  'spec.authority.secret': 'Your own CA, only ever read. It lies in the namespace of the Signer.',
  'spec.authority.secret.name':
    'Name of the Secret, of type kubernetes.io/tls. It must carry the annotation countersign.dev/signer-name with the derived signer name, and ca.crt where tls.crt does not end in a self-signed certificate.',
  'spec.pods':
    'How PodCertificateRequests of pods of this namespace are answered. Left out, they are not served and stay untouched, as those of other namespaces do. Expressions are CEL over pod (namespace, name, uid, serviceAccount, serviceAccountUID, node, nodeUID, annotations).',
  'spec.certificateRequests':
    "How cert-manager's CertificateRequests of this namespace are answered whose issuerRef names this Signer. Left out, they are not served and stay untouched. A leaf holds all that the request asks for, or is not issued. Expressions are CEL over csr and request as for requests, and request.namespace.",
  'status.conditions[].reason': 'Why, in one word; docs/reference/cluster-signer.md explains each.',
};

/** @param clusterSigners - text of deploy/crds/clustersigners.yaml */
export function signerCrd(clusterSigners: string): string {
  const definition = parse(clusterSigners) as Definition & Manifest;
  const { versions } = definition.spec;
  const made = {
    ...definition,
    metadata: {
      name: 'signers.countersign.dev',
      labels: { 'app.kubernetes.io/name': 'countersign' },
    },
    spec: {
      group: 'countersign.dev',
      scope: 'Namespaced',
      names: {
        kind: 'Signer',
        listKind: 'SignerList',
        plural: 'signers',
        singular: 'signer',
        categories: ['countersign'],
      },
      versions: versions.map(versionOf),
    },
  };
  return HEADER + documentsOf([made]);
}

function versionOf({ selectableFields: _, ...version }: Version): Manifest {
  const columns = version.additionalPrinterColumns.flatMap((column) => {
    if (column['name'] === 'Next rotation') return [];
    return [column['name'] === 'Signer' ? { ...column, jsonPath: '.status.signerName' } : column];
  });
  const root = narrowed(version.schema.openAPIV3Schema, '');
  return { ...version, additionalPrinterColumns: columns, schema: { openAPIV3Schema: root } };
}

/** Fields that a Signer has not. */
const DROPPED = [
  'spec.signerName',
  'spec.trustBundle',
  'spec.authority.managed',
  'spec.authority.secret.namespace',
  'status.nextRotation',
  // A CA that is the user's own is neither certified nor distrusted here.
  'status.crossCertificates',
  'status.distrusted',
  // Nobody publishes it.
  'status.retainedAnchors',
  'status.formerAnchors',
];

function narrowed(schema: Schema, path: string): Schema {
  const { 'x-kubernetes-validations': all = [], properties, ...rest } = schema;
  const rules = all.filter(({ rule }) => !rule.includes('managed'));
  const description = DESCRIPTIONS[path] ?? schema.description;
  const required = requiredOf(schema, path);
  return {
    ...rest,
    ...(description === undefined ? {} : { description }),
    ...(required === undefined ? {} : { required }),
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }),
    ...(properties === undefined ? {} : { properties: fieldsOf(properties, path) }),
  };
}

function fieldsOf(
  properties: NonNullable<Schema['properties']>,
  path: string,
): NonNullable<Schema['properties']> {
  const kept = Object.entries(properties)
    .filter(([name]) => !DROPPED.includes(below(path, name)))
    .map(([name, child]) => [name, narrowed(child, below(path, name))] as const);
  const added = path === 'status' ? [['signerName', ofSignerName()] as const] : [];
  return Object.fromEntries([...added, ...kept]);
}

/** Of a ClusterSigner's authority one of two is set, which its own rules say; here there is one. */
function requiredOf({ required }: Schema, path: string): readonly string[] | undefined {
  if (path === 'spec.authority') return ['secret'];
  return required?.filter((name) => !DROPPED.includes(below(path, name)));
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function ofSignerName(): Schema & Manifest {
  return { type: 'string', description: SIGNER_NAME, maxLength: 571 };
}
