// SPDX-License-Identifier: Apache-2.0
/** Renders every file of deploy/chart, and the reference page of its values. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { HOLDER_API_VERSION, HOLDER_KIND } from '#ca/key-holder/protocol.ts';
import { COMPONENTS } from '#install/component-list.ts';
import {
  HELD_KEY_MODE,
  HOLDER_RESOURCES,
  HOLDER_SOCKET,
  HOLDER_TOKEN_RESOURCES,
  KEYS_DIRECTORY,
  MODULE_DIRECTORY,
} from '#install/key-holder-sidecar.ts';
import { KEPT, templates } from './templates.ts';
import {
  componentTable,
  keyHolderTable,
  valuesSchema,
  valuesTable,
  valuesYaml,
} from './values-file.ts';

const ROOT = join(import.meta.dirname, '../..');
const CHART = 'deploy/chart';
const VALUES_PAGE = 'docs/reference/chart-values.md';
const { version, description } = packageJson;

/**
 * Definitions of every installation, whatever it enables. If a component's definition were removed
 * with the component, the API server would delete its objects.
 */
const DEFINITIONS = [
  'clustersigners',
  'signers',
  'revocations',
  'externalclustersigners',
  ...['acmeclustersigners', 'acmesigners', 'orders', 'challenges'].map((each) => `acme/${each}`),
];

/** Returns texts by path from the root. */
export async function chartFiles(): Promise<ReadonlyMap<string, string>> {
  const own = (file: string): Promise<string> => readFile(join(import.meta.dirname, file), 'utf8');
  return new Map([
    [`${CHART}/Chart.yaml`, chartYaml()],
    [`${CHART}/values.yaml`, valuesYaml()],
    [`${CHART}/values.schema.json`, `${JSON.stringify(valuesSchema(), null, 2)}\n`],
    [
      `${CHART}/templates/_helpers.tpl`,
      (await own('_helpers.tpl'))
        .replace('@OPTIONAL@', optional())
        .replace('@DESCRIBED@', described())
        .replace('@SIGNING@', signing())
        .replace('@KEY_HOLDER@', keyHolderConstants()),
    ],
    [`${CHART}/templates/_checks.tpl`, await own('_checks.tpl')],
    [`${CHART}/templates/_checks-acme.tpl`, await own('_checks-acme.tpl')],
    [`${CHART}/templates/_checks-external.tpl`, await own('_checks-external.tpl')],
    [`${CHART}/templates/_checks-key-holder.tpl`, await own('_checks-key-holder.tpl')],
    [`${CHART}/templates/_checks-ledger.tpl`, await own('_checks-ledger.tpl')],
    [`${CHART}/templates/_checks-federation.tpl`, await own('_checks-federation.tpl')],
    [`${CHART}/templates/_checks-resources.tpl`, await own('_checks-resources.tpl')],
    [`${CHART}/templates/NOTES.txt`, await own('NOTES.txt')],
    ...(await Promise.all(
      DEFINITIONS.map(
        async (file) => [`${CHART}/templates/crds/${file}.yaml`, await definition(file)] as const,
      ),
    )),
    ...[...templates()].map(([file, text]) => [`${CHART}/templates/${file}`, text] as const),
    [VALUES_PAGE, await valuesPage()],
  ]);
}

function chartYaml(): string {
  return `# SPDX-License-Identifier: Apache-2.0
# Made by make chart.
apiVersion: v2
name: countersign
description: ${JSON.stringify(description)}
type: application
version: ${version}
appVersion: ${version}
kubeVersion: '>=1.36.0-0'
`;
}

/** Replicas and resources of the descriptions, for the merge with what the values say. */
function described(): string {
  const settings = [...COMPONENTS].map(([name, { replicas, resources }]) => [
    name,
    { replicas, resources },
  ]);
  return JSON.stringify(Object.fromEntries(settings), null, 2);
}

/** Returns JSON of the component that signs for each kind of requests. */
function signing(): string {
  const pairs = [...COMPONENTS].flatMap(([name, { servedKind, signsByKeyHolder }]) =>
    servedKind === undefined || signsByKeyHolder !== true ? [] : [[servedKind, name] as const],
  );
  return JSON.stringify(Object.fromEntries(pairs), null, 2);
}

/** Returns JSON of what the helper of key holders needs. */
function keyHolderConstants(): string {
  const constants = {
    apiVersion: HOLDER_API_VERSION,
    kind: HOLDER_KIND,
    socket: HOLDER_SOCKET,
    keysDirectory: KEYS_DIRECTORY,
    resources: HOLDER_RESOURCES,
    tokenResources: HOLDER_TOKEN_RESOURCES,
    moduleDirectory: MODULE_DIRECTORY,
    mode: HELD_KEY_MODE,
  };
  return JSON.stringify(constants, null, 2);
}

/** Returns JSON of the components that users may disable, and their defaults. */
function optional(): string {
  const flags = [...COMPONENTS].flatMap(([name, each]) =>
    each.optional === undefined ? [] : [[name, each.optional.enabled] as const],
  );
  return JSON.stringify(Object.fromEntries(flags), null, 2);
}

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly versions: readonly { readonly name: string }[] };
}

/**
 * A CustomResourceDefinition as deploy/crds has it, with what Helm and the next chart need to know
 * of it.
 */
async function definition(file: string): Promise<string> {
  const text = await readFile(join(ROOT, 'deploy/crds', `${file}.yaml`), 'utf8');
  const { metadata, spec } = parse(text) as Definition;
  const versions = spec.versions.map((each) => `"${each.name}"`).join(' ');
  const body = text
    .replace(/^(?:#.*\n)+/, '')
    .replaceAll('{{', '{{ "{{" }}')
    .replace(
      /^metadata:\n/m,
      `metadata:\n{{- if .Values.crds.keep }}\n  annotations:\n${KEPT.map((each) => `    ${each}\n`).join('')}{{- end }}\n`,
    )
    .replace(
      /^ {4}app\.kubernetes\.io\/name: countersign\n/m,
      (line) => `${line}    app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}\n`,
    );
  return `{{- /*
SPDX-License-Identifier: Apache-2.0
deploy/crds/${file}.yaml, by make chart: do not edit.
*/}}
{{- if .Values.crds.install }}
{{- include "countersign.checkDefinition" (list $ "${metadata.name}" (list ${versions})) }}
---
${body}{{- end }}
`;
}

/** Returns a sentence about the components that users may disable. */
function leftOut(): string {
  const names = [...COMPONENTS].flatMap(([name, each]) =>
    each.optional === undefined
      ? []
      : [`\`components.${name}.enabled\` (default \`${String(each.optional.enabled)}\`)`],
  );
  return `These have a switch: ${names.join(', ')}. All others are always there.`;
}

/** Returns the components that sign with keys in a key holder. */
function holderComponents(): string {
  const names = [...COMPONENTS].flatMap(([name, { signsByKeyHolder }]) =>
    signsByKeyHolder === true ? [`\`${name}\``] : [],
  );
  return names.join(', ');
}

async function valuesPage(): Promise<string> {
  const { properties = {} } = valuesSchema();
  const settings = properties['defaults']?.properties ?? {};
  const text = `# Values of the chart

Made by \`make chart\` from \`src/install/values/schema.ts\`. [Install with Helm](../how-to/install-with-helm.md) says how to set
them. A value that is not listed here is refused.

${valuesTable()}

Each component takes the settings of \`defaults\` as well: \`components.pcr-issuer.replicas\`. What is set for a component wins over
what is set for all. Objects are merged key by key; lists are replaced.

${leftOut()}

These components take a key holder. All fields are as in [the file of a key holder](../how-to/key-holder.md): ${holderComponents()}.

${keyHolderTable()}

Where nothing is set (an idle component has 45 to 49 MiB of its own, [as measured](performance.md#idle-components-with-nothing-to-do); limits leave
room for a storm of requests):

${componentTable()}

The settings are ${Object.keys(settings)
    .map((each) => `\`${each}\``)
    .join(', ')}.
`;
  const options = await resolveConfig(join(ROOT, VALUES_PAGE));
  return format(text, { ...options, parser: 'markdown' });
}
