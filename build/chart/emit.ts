// SPDX-License-Identifier: Apache-2.0
/** Writes objects with tokens as YAML with template actions. */
import { stringify } from 'yaml';
import { caBundleTargetText } from '#api/object/ca-bundle-target.ts';
import { federatedBundleName } from '#api/object/federated-bundle.ts';
import { everySignerOf } from '#base/authorizing-names.ts';
import { trustConfigMapName } from '#api/object/trust-config-map.ts';
import { crlConfigMapName } from '#api/revocation/names.ts';
import { hubSecretName } from '#api/signer/upstream-hub.ts';
import {
  ACCOUNT,
  ACME_SIGNER,
  ACME_TEAM,
  BUNDLE,
  CA_BUNDLES,
  DOMAIN,
  EXTERNAL,
  EXTERNAL_SIGNER,
  FEDERATED,
  ADDRESS,
  DNS_PLACE,
  KEYS,
  LEDGER_DATABASE,
  LEDGER_MODE,
  MONITORED_PLACE,
  NAMESPACE,
  PLACED_SECRET,
  PROVIDER,
  ROUTE_ENTRY,
  PROVIDER_SOLVER,
  SECRET,
  SERVED_LISTS,
  SIGNER,
  TEAM,
  TEAM_SECRET,
  UPSTREAM_ISSUER,
  UPSTREAM_PLACE,
  caBundleToken,
  readHole,
  readMore,
} from './tokens.ts';
import { ROWS } from './rows.ts';
import { Either, isObject } from './vary.ts';

/** Lists that a template loops over, by the token that is their item. */
const LISTS: Readonly<Record<string, string>> = {
  [SIGNER]: '$names.signers',
  [BUNDLE]: '$names.bundles',
  [trustConfigMapName(BUNDLE)]: '$names.trustConfigMaps',
  [SECRET]: '$names.secrets',
  ...SERVED_LISTS,
  [TEAM_SECRET]: '$team.secrets',
  [PLACED_SECRET]: '$team.secrets',
  [ACME_SIGNER]: '$names.acmeSigners',
  [EXTERNAL_SIGNER]: '$names.externalSigners',
  [ACCOUNT]: '$names.accounts',
  [EXTERNAL]: '$names.externals',
  [federatedBundleName(FEDERATED)]: '$names.federated',
  ...Object.fromEntries(
    CA_BUNDLES.map(([value]) => [caBundleToken(value), `$names.caBundles.${value}`]),
  ),
  [`--http01-zone=${ADDRESS}`]: '$names.zoneArgs',
  [`--namespaced-server=${ADDRESS}`]: '$names.serverArgs',
  [`--namespaced-solver=${ADDRESS}`]: '$names.solverArgs',
  [`--namespaced-network=${ADDRESS}`]: '$names.networkArgs',
};

/** Lists whose items get text around them: list and format. */
const FORMATTED: Readonly<Record<string, readonly [list: string, format: string]>> = {
  [everySignerOf(DOMAIN)]: ['$names.signerDomains', everySignerOf('%s')],
  [crlConfigMapName(SECRET)]: ['$names.secrets', `%s${crlConfigMapName('')}`],
  [hubSecretName(SECRET)]: ['$names.secrets', `%s${hubSecretName('')}`],
  ...Object.fromEntries(
    CA_BUNDLES.map(([value, resource]) => [
      `--ca-bundle-of=${caBundleTargetText({ resource, name: caBundleToken(value) })}`,
      [`$names.caBundles.${value}`, `--ca-bundle-of=${resource}/%s`],
    ]),
  ),
};

const TEAM_NAMESPACE = '{{ $team.namespace }}';
/** Template actions by the text with tokens that they replace. Longer texts come first. */
const TEXTS: readonly (readonly [text: string, action: string])[] = [
  ...ROWS,
  [
    `{'${BUNDLE}': '${SIGNER}', `,
    // An action would take a brace before it as part of its delimiter.
    `{{ "{" }}{{ range $names.table }}'{{ .bundle }}': '{{ .signer }}', {{ end }}`,
  ],
  [
    `{'${trustConfigMapName(BUNDLE)}': '${SIGNER}', `,
    `{{ "{" }}{{ range $names.table }}'{{ .bundle | replace ":" "." }}': '{{ .signer }}', {{ end }}`,
  ],
  [`['${UPSTREAM_ISSUER}']`, `[{{ include "countersign.quoted" $names.upstreamIssuers }}]`],
  [`['${ROUTE_ENTRY}']`, `[{{ include "countersign.quoted" $names.routeMetadata }}]`],
  [
    `['${SIGNER}', '${EXTERNAL_SIGNER}', '${ACME_SIGNER}']`,
    `[{{ include "countersign.quoted" (concat $names.signers $names.externalSigners $names.acmeSigners) }}]`,
  ],
  [
    `['${SIGNER}', '${EXTERNAL_SIGNER}']`,
    `[{{ include "countersign.quoted" (concat $names.signers $names.externalSigners) }}]`,
  ],
  [`['${SIGNER}']`, `[{{ include "countersign.quoted" $names.signers }}]`],
  [`['${DOMAIN}']`, `[{{ include "countersign.quoted" $names.signerDomains }}]`],
  [
    `'${KEYS}/${SECRET}', `,
    `{{ range $names.secrets }}'{{ $names.keysNamespace }}/{{ . }}', {{ end }}`,
  ],
  [
    `'${KEYS}/${crlConfigMapName(SECRET)}', `,
    `{{ range $names.secrets }}'{{ $names.keysNamespace }}/{{ . }}${crlConfigMapName('')}', {{ end }}`,
  ],
  [
    `, '${KEYS}/${ACCOUNT}'`,
    `{{ range $names.accounts }}, '{{ $names.keysNamespace }}/{{ . }}'{{ end }}`,
  ],
  [NAMESPACE, '{{ $names.namespace }}'],
  [KEYS, '{{ $names.keysNamespace }}'],
  ...[TEAM, ACME_TEAM, DNS_PLACE, MONITORED_PLACE, UPSTREAM_PLACE].map(
    (place) => [place, TEAM_NAMESPACE] as const,
  ),
  [PROVIDER, '{{ .group }}'],
  [PROVIDER_SOLVER, '{{ .solver }}'],
  [LEDGER_MODE, '{{ $.Values.ledger.mode }}'],
  [LEDGER_DATABASE, '{{ $.Values.ledger.postgres.secret }}'],
];

/** Items of lists that depend on a condition. */
const ITEMS: Readonly<Record<string, string>> = {
  [`--secret-namespace=${KEYS}`]: 'ne $names.keysNamespace "countersign-keys"',
};

/** Flag that names who may append records about a signer. The template writes one for each. */
const GRANT = '--appender=';

const open = (action: string): string => `{{- ${action} }}`;
const END = open('end');
const spaces = (indent: number): string => ' '.repeat(indent);

/** Returns the lines of one document. */
export function emit(document: object): readonly string[] {
  return entries(document as Readonly<Record<string, unknown>>, 0);
}

function entries(object: Readonly<Record<string, unknown>>, indent: number): readonly string[] {
  return Object.entries(object).flatMap(([key, value]) => entry(key, value, indent));
}

function entry(key: string, value: unknown, indent: number): readonly string[] {
  const more = readMore(key);
  if (more !== undefined) return added(more, indent);
  const name = spaces(indent) + plain(key);
  if (value instanceof Either) {
    const of = (each: unknown): readonly string[] =>
      each === undefined ? [] : entry(key, each, indent);
    return either(value, of);
  }
  const hole = readHole(value) ?? onlyMore(value);
  if (hole === undefined) return named(`${name}:`, value, indent);
  const { wanted, expression } = hole;
  if (wanted === 'int') return [`${name}: {{ int ${expression} }}`];
  if (wanted === 'quote') return [`${name}: {{ ${expression} | quote }}`];
  // toYaml alone would indent a text twice if it begins with a space or a new line.
  if (wanted === 'text') return [open(`with ${expression}`), `${name}: {{ . | quote }}`, END];
  const yaml = (of: string): string =>
    `${spaces(indent + 2)}${open(`toYaml ${of} | nindent ${indent + 2}`)}`;
  if (wanted === 'yaml') return [`${name}:`, yaml(expression)];
  return [open(`with ${expression}`), `${name}:`, yaml('.'), END];
}

/** Writes an object that only the template fills. Without content, the object is absent. */
function onlyMore(value: unknown): ReturnType<typeof readHole> {
  const [key, ...others] = isObject(value) ? Object.keys(value) : [];
  const expression = others.length === 0 ? readMore(key) : undefined;
  return expression === undefined ? undefined : { wanted: 'with', expression };
}

/** Writes a value after its name: on the same line, or below it. */
function named(name: string, value: unknown, indent: number): readonly string[] {
  if (Array.isArray(value)) {
    if (value.length === 0) return [`${name} []`];
    return [name, ...value.flatMap((each) => item(each, indent + 2))];
  }
  if (isObject(value)) {
    if (Object.keys(value).length === 0) return [`${name} {}`];
    return [name, ...entries(value, indent + 2)];
  }
  return scalar(name, value, indent + 2);
}

function item(value: unknown, indent: number): readonly string[] {
  if (value instanceof Either) {
    return either(value, (each) => (each === undefined ? [] : item(each, indent)));
  }
  const more = readMore(value);
  if (more !== undefined) return added(more, indent);
  const dash = `${spaces(indent)}-`;
  const looped = typeof value === 'string' ? loop(dash, value) : undefined;
  if (looped !== undefined) return looped;
  if (isObject(value)) {
    const lines = objectItem(dash, value, indent);
    const condition = conditionOf(value);
    return condition === undefined ? lines : [open(condition), ...lines, END];
  }
  const condition = ITEMS[String(value)];
  const lines = scalar(dash, value, indent + 2);
  return condition === undefined ? lines : [open(`if ${condition}`), ...lines, END];
}

/** Writes an item for each name of a list, or returns nothing for another text. */
function loop(dash: string, text: string): readonly string[] | undefined {
  const list = LISTS[text];
  if (list !== undefined) return [open(`range ${list}`), `${dash} {{ . | quote }}`, END];
  const [named, format] = FORMATTED[text] ?? [];
  if (named !== undefined) {
    return [open(`range ${named}`), `${dash} {{ printf "${format ?? ''}" . | quote }}`, END];
  }
  const signer = [SIGNER, ACME_SIGNER, EXTERNAL_SIGNER].find((each) => text.endsWith(each));
  if (!text.startsWith(GRANT) || signer === undefined) return undefined;
  const grant = text.slice(0, -signer.length);
  return [open(`range ${LISTS[signer] ?? ''}`), `${dash} "${grant}{{ . }}"`, END];
}

/** Returns the list of a token, or undefined for plain text. */
function listOf(text: string): string | undefined {
  return LISTS[text] ?? FORMATTED[text]?.[0];
}

/**
 * Returns the condition of a rule: once for each provider, and only with one of its names. A rule
 * without names would grant all of them.
 */
function conditionOf({
  apiGroups,
  resourceNames,
}: Readonly<Record<string, unknown>>): string | undefined {
  if (Array.isArray(apiGroups) && apiGroups.includes(PROVIDER)) return 'range $names.providers';
  if (!Array.isArray(resourceNames)) return undefined;
  const conditions = resourceNames.map((each) =>
    each instanceof Either ? each.condition : listOf(String(each)),
  );
  const isAlways = conditions.some((each) => each?.startsWith('$names.') !== true);
  if (isAlways) return undefined;
  const [first = '', ...others] = new Set(conditions);
  return others.length === 0 ? `if ${first}` : `if or ${[first, ...others].join(' ')}`;
}

/** Writes an item of a list. Its first field follows the dash. */
function objectItem(
  dash: string,
  value: Readonly<Record<string, unknown>>,
  indent: number,
): readonly string[] {
  const [first = '', ...rest] = entries(value, indent + 2);
  if (first.startsWith('{{-')) throw new TypeError(`an item begins with an action: ${first}`);
  return [`${dash} ${first.trimStart()}`, ...rest];
}

function either(
  { condition, yes, no }: Either,
  lines: (value: unknown) => readonly string[],
): readonly string[] {
  const other = lines(no);
  const otherwise = other.length === 0 ? [] : [open('else'), ...other];
  const [first, ...rest] = [...lines(yes)];
  if (first === undefined) return [open(`if not (${condition})`), ...other, END];
  return [open(`if ${condition}`), first, ...rest, ...otherwise, END];
}

function added(expression: string, indent: number): readonly string[] {
  return [
    open(`with ${expression}`),
    `${spaces(indent)}${open(`toYaml . | nindent ${indent}`)}`,
    END,
  ];
}

function scalar(name: string, value: unknown, indent: number): readonly string[] {
  if (typeof value !== 'string') return [`${name} ${JSON.stringify(value)}`];
  if (value.includes('\n')) {
    const isEnded = value.endsWith('\n');
    const lines = filled(value, (text) => text)
      .slice(0, isEnded ? -1 : undefined)
      .split('\n');
    return [`${name} ${isEnded ? '|' : '|-'}`, ...lines.map((line) => spaces(indent) + line)];
  }
  const isPlain = !value.includes('⟦') && !value.includes('{{');
  if (isPlain) return [`${name} ${plain(value)}`];
  return [`${name} "${filled(value, (text) => JSON.stringify(text).slice(1, -1))}"`];
}

/** Writes a short text as YAML. The library adds quotes where YAML needs them. */
function plain(value: string): string {
  return stringify(value, { lineWidth: 0, singleQuote: true }).trimEnd();
}

/** The text with actions for its tokens. @param write - what is done to the text between them */
function filled(text: string, write: (text: string) => string): string {
  const [found] = TEXTS.map(([token, action]) => ({ token, action, at: text.indexOf(token) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
  if (found === undefined) {
    if (text.includes('⟦')) throw new TypeError(`no action is known for the token in ${text}`);
    return write(text).replaceAll('{{', '{{ "{{" }}');
  }
  const { token, action, at } = found;
  return filled(text.slice(0, at), write) + action + filled(text.slice(at + token.length), write);
}
