// SPDX-License-Identifier: Apache-2.0
/**
 * Generates deploy/crds/signers.yaml from deploy/crds/clustersigners.yaml. It keeps fields, limits
 * and descriptions, and omits the fields that a namespace cannot decide. test/architecture
 * compares the files.
 */
import { parse } from 'yaml';
import { documentsOf } from '#install/documents.ts';
import type { Manifest } from '#install/roles.ts';

/** Part of a CustomResourceDefinition that differs. */
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
  readonly items?: Schema;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string }[];
}

const HEADER = `# SPDX-License-Identifier: Apache-2.0
# Generated from clustersigners.yaml by make crds: the same fields, without those that a namespace cannot
# decide. docs/reference/signer.md lists the differences.
`;

const SIGNER_NAME =
  'The signer name of the requests that it answers, signers.countersign.dev/<namespace>.<name>. It is derived; you cannot choose it.';

const ANCHORS = 'status.authorities[].anchors';

/** Descriptions of fields that differ from those of a ClusterSigner. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  '': 'A Signer makes Countersign answer the requests of its own namespace with a CA in that namespace. It defines what a leaf certificate may contain, and who gets one. Its signer name is signers.countersign.dev/<namespace>.<name>. It works only if the administrator has enabled Signers.',
  kind: 'Signer.',
  'spec.authority': 'The CA of the signer.',
  'spec.authority.secret':
    'Your own CA, in the namespace of the Signer. Countersign reads the Secret and never writes it.',
  'spec.authority.secret.name':
    'Name of the Secret, of type kubernetes.io/tls. It must have the annotation countersign.dev/signer-name with the derived signer name, and ca.crt if tls.crt has no self-signed certificate.',
  'spec.pods':
    'How to answer PodCertificateRequests of pods of this namespace. If omitted, they are ignored, like those of other namespaces. CEL expressions have the variable pod (namespace, name, uid, serviceAccount, serviceAccountUID, node, nodeUID, annotations; labels where labels is set), and services, the names of the Services, where services is set.',
  [ANCHORS]:
    'The trust anchors of this CA, in PEM. trust-distributor, where it is installed, copies them into the ConfigMap signers.countersign.dev of the namespace. All CAs of a Signer have room for 24,576 characters; the oldest ones lose theirs first.',
  'spec.certificateRequests':
    "How to answer cert-manager's CertificateRequests of this namespace whose issuerRef names this Signer. If omitted, they are ignored. A leaf contains everything in the request, or is not issued. CEL expressions have the variables of requests, and request.namespace.",
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

/** Fields that a Signer does not have. */
const DROPPED = [
  'spec.signerName',
  'spec.intermediates',
  'spec.trustBundle',
  'spec.profile.crl',
  'spec.authority.managed',
  'spec.authority.keyHolder',
  'spec.authority.secret.namespace',
  'status.nextRotation',
  // These describe managed CAs only.
  'status.crossCertificates',
  'status.distrusted',
  // No component publishes it.
  'status.retainedAnchors',
  'status.formerAnchors',
];

/** Earlier versions write this field. Without it, the API server would remove it from objects. */
const OPTIONAL = [ANCHORS];

function narrowed(schema: Schema, path: string): Schema {
  const { 'x-kubernetes-validations': all = [], properties, items, ...rest } = schema;
  const rules = all.filter(({ rule }) => !/managed|intermediates/.test(rule));
  const description = DESCRIPTIONS[path] ?? schema.description;
  const required = requiredOf(schema, path);
  return {
    ...rest,
    ...(description === undefined ? {} : { description }),
    ...(required === undefined ? {} : { required }),
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }),
    ...(items === undefined ? {} : { items: narrowed(items, `${path}[]`) }),
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

/**
 * A ClusterSigner's authority has two members, one of which its rules require; a Signer's has one.
 */
function requiredOf({ required }: Schema, path: string): readonly string[] | undefined {
  if (path === 'spec.authority') return ['secret'];
  return required?.filter(
    (name) => !DROPPED.includes(below(path, name)) && !OPTIONAL.includes(below(path, name)),
  );
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function ofSignerName(): Schema & Manifest {
  return { type: 'string', description: SIGNER_NAME, maxLength: 571 };
}
