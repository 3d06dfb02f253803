// SPDX-License-Identifier: Apache-2.0
/** Objects with tokens as YAML with template actions. */
import { stringify } from 'yaml';
import { caBundleTargetText } from '../../src/api/object/ca-bundle-target.ts';
import { federatedBundleName } from '../../src/api/object/federated-bundle.ts';
import { trustConfigMapName } from '../../src/api/object/trust-config-map.ts';
import { crlConfigMapName } from '../../src/api/revocation/revocation.ts';
import { environmentRow, profileRow } from '../../src/manifests/admission/injection/profiles.ts';
import {
  ACCOUNT,
  ACME_SIGNER,
  ACME_TEAM,
  BUNDLE,
  CA_BUNDLES,
  EXTERNAL,
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
  PROVIDER_SOLVER,
  PROFILE,
  SECRET,
  SIGNER,
  TEAM,
  TEAM_SECRET,
  caBundleToken,
  readHole,
  readMore,
} from './tokens.ts';
import { Either, isObject } from './vary.ts';

/** Token → the list that a template loops over where the token is an item. */
const LISTS: Readonly<Record<string, string>> = {
  [SIGNER]: '$names.signers',
  [BUNDLE]: '$names.bundles',
  [trustConfigMapName(BUNDLE)]: '$names.trustConfigMaps',
  [SECRET]: '$names.secrets',
  [TEAM_SECRET]: '$team.secrets',
  [PLACED_SECRET]: '$team.secrets',
  [ACME_SIGNER]: '$names.acmeSigners',
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

/** The items of such a list with something around each: list and format. */
const FORMATTED: Readonly<Record<string, readonly [list: string, format: string]>> = {
  [crlConfigMapName(SECRET)]: ['$names.secrets', `%s${crlConfigMapName('')}`],
  ...Object.fromEntries(
    CA_BUNDLES.map(([value, resource]) => [
      `--ca-bundle-of=${caBundleTargetText({ resource, name: caBundleToken(value) })}`,
      [`$names.caBundles.${value}`, `--ca-bundle-of=${resource}/%s`],
    ]),
  ),
};

/** The rows of the tables of injection, with a loop in their place. */
const ROWS: readonly (readonly [text: string, action: string])[] = [
  [profileRow(PROFILE), loopOf('$names.profiles', profileRow(fields(PROFILE)))],
  ...PROFILE.environment.map((each): [string, string] => [
    environmentRow(PROFILE.name, each),
    loopOf('$names.environment', environmentRow('{{ .profile }}', fields(each))),
  ]),
];

/** A row for each item of a list; a brace before an action would be part of its delimiter. */
function loopOf(list: string, row: string): string {
  return `{{ range ${list} }}{{ "{" }}${row.slice(1)}{{ end }}`;
}

/** The texts of an object, each replaced with the action that writes the field of that name. */
function fields<T extends object>(of: T): Record<keyof T, string> {
  const actions = Object.keys(of).map((key) => [key, `{{ .${key} }}`]);
  return Object.fromEntries(actions) as Record<keyof T, string>;
}

/** Texts with tokens → what the template writes in their place; the longer ones first. */
const TEXTS: readonly (readonly [text: string, action: string])[] = [
  ...ROWS,
  [
    `{'${BUNDLE}': '${SIGNER}', `,
    // A brace before an action would be part of its delimiter.
    `{{ "{" }}{{ range $names.table }}'{{ .bundle }}': '{{ .signer }}', {{ end }}`,
  ],
  [
    `{'${trustConfigMapName(BUNDLE)}': '${SIGNER}', `,
    `{{ "{" }}{{ range $names.table }}'{{ .bundle | replace ":" "." }}': '{{ .signer }}', {{ end }}`,
  ],
  [`['${SIGNER}']`, `[{{ include "countersign.quoted" $names.signers }}]`],
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
  [TEAM, '{{ $team.namespace }}'],
  [ACME_TEAM, '{{ $team.namespace }}'],
  [DNS_PLACE, '{{ $team.namespace }}'],
  [MONITORED_PLACE, '{{ $team.namespace }}'],
  [PROVIDER, '{{ .group }}'],
  [PROVIDER_SOLVER, '{{ .solver }}'],
  [LEDGER_MODE, '{{ $.Values.ledger.mode }}'],
  [LEDGER_DATABASE, '{{ $.Values.ledger.postgres.secret }}'],
];

/** Items of lists that are there under a condition. */
const ITEMS: Readonly<Record<string, string>> = {
  [`--secret-namespace=${KEYS}`]: 'ne $names.keysNamespace "countersign-keys"',
};

/** Who appends about a signer: an argument for each. */
const GRANT = '--appender=';

const open = (action: string): string => `{{- ${action} }}`;
const END = open('end');
const spaces = (indent: number): string => ' '.repeat(indent);

/** The lines of one document. */
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
  const yaml = (of: string): string =>
    `${spaces(indent + 2)}${open(`toYaml ${of} | nindent ${indent + 2}`)}`;
  if (wanted === 'yaml') return [`${name}:`, yaml(expression)];
  return [open(`with ${expression}`), `${name}:`, yaml('.'), END];
}

/** An object that has nothing but what the template adds: it is there only if that is. */
function onlyMore(value: unknown): ReturnType<typeof readHole> {
  const [key, ...others] = isObject(value) ? Object.keys(value) : [];
  const expression = others.length === 0 ? readMore(key) : undefined;
  return expression === undefined ? undefined : { wanted: 'with', expression };
}

/** A value after what names it: on the same line, or below it. */
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

/** An item for each name of a list; nothing for a text that is none. */
function loop(dash: string, text: string): readonly string[] | undefined {
  const list = LISTS[text];
  if (list !== undefined) return [open(`range ${list}`), `${dash} {{ . | quote }}`, END];
  const [named, format] = FORMATTED[text] ?? [];
  if (named !== undefined) {
    return [open(`range ${named}`), `${dash} {{ printf "${format ?? ''}" . | quote }}`, END];
  }
  const signer = [SIGNER, ACME_SIGNER].find((each) => text.endsWith(each));
  if (!text.startsWith(GRANT) || signer === undefined) return undefined;
  const grant = text.slice(0, -signer.length);
  return [open(`range ${LISTS[signer] ?? ''}`), `${dash} "${grant}{{ . }}"`, END];
}

/**
 * When a rule is there: once for each provider, and only where one of its names is, since without names it would mean
 * all.
 */
function conditionOf({
  apiGroups,
  resourceNames,
}: Readonly<Record<string, unknown>>): string | undefined {
  if (Array.isArray(apiGroups) && apiGroups.includes(PROVIDER)) return 'range $names.providers';
  if (!Array.isArray(resourceNames)) return undefined;
  const conditions = resourceNames.map((each) =>
    each instanceof Either ? each.condition : LISTS[String(each)],
  );
  const isAlways = conditions.some((each) => each?.startsWith('$names.') !== true);
  if (isAlways) return undefined;
  const [first = '', ...others] = new Set(conditions);
  return others.length === 0 ? `if ${first}` : `if or ${[first, ...others].join(' ')}`;
}

/** The first field is beside the dash. */
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

/** A short text as YAML; the library knows what needs quotes. */
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
