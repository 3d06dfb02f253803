// SPDX-License-Identifier: Apache-2.0
import { VERBS, type Fault, type Rule, type Verb, type When } from './rule.ts';

/**
 * Reads a script: one rule a line, `#` begins a comment.
 *
 *     <client> <verb> <path> [nth N | every N | first N | chance P] <fault>
 *
 * `client` is a door's name or `*`. `path` is matched against the end of the URL's path, from a
 * slash on; `*` in it stands for any text. Of several rules that could strike the first one does,
 * except that `delay` lets the next ones have their say.
 *
 * @throws SyntaxError with the line
 */
export function parseScript(text: string): readonly Rule[] {
  return text
    .split('\n')
    .map((line) => line.replace(/#.*$/, '').trim())
    .filter((line) => line !== '')
    .map(parseRule);
}

function parseRule(text: string): Rule {
  const words = text.split(/\s+/);
  const wrong = (what: string): SyntaxError => new SyntaxError(`${what} in the rule: ${text}`);
  const [client = '', verb = '', path = '', ...rest] = words;
  if (!isVerb(verb)) throw wrong(`"${verb}" is none of ${VERBS.join(', ')}`);
  const when = parseWhen(rest);
  if (when === undefined) throw wrong('no count or probability');
  const fault = parseFault(rest);
  if (fault === undefined || rest.length > 0) throw wrong('no fault that is known');
  if (!fits(fault, verb)) throw wrong(`"${fault.kind}" cannot be done to ${verb}`);
  return { text: words.join(' '), client, verb, path: pathPattern(path), when, fault };
}

function isVerb(word: string): word is Verb {
  return (VERBS as readonly string[]).includes(word);
}

/** Takes its words off the front. */
function parseWhen(words: string[]): When | undefined {
  const [kind] = words;
  if (kind === 'chance') {
    const probability = Number(words.splice(0, 2)[1]);
    return probability >= 0 && probability <= 1 ? { kind, probability } : undefined;
  }
  if (kind !== 'nth' && kind !== 'every' && kind !== 'first') return { kind: 'always' };
  const count = Number(words.splice(0, 2)[1]);
  return Number.isInteger(count) && count > 0 ? { kind, count } : undefined;
}

/** Takes its words off the front. */
function parseFault(words: string[]): Fault | undefined {
  const kind = words.shift() ?? '';
  switch (kind) {
    case 'hold':
    case 'cut':
    case 'silence':
    case 'swallow':
    case 'mute':
    case 'truncate':
    case 'slow':
    case 'drop':
    case 'duplicate':
    case 'reorder':
    case 'garble':
      return { kind };
    case 'delay':
      return parseDelay(words.shift() ?? '');
    case 'kill':
      return parseKill(words.shift() ?? '');
    case 'answer':
      return parseAnswer(words);
    default:
      return undefined;
  }
}

/** `50ms`, `2s`, `50ms-2s` */
function parseDelay(text: string): Fault | undefined {
  const [least, most = least, ...more] = text.split('-').map(milliseconds);
  if (least === undefined || most === undefined || most < least || more.length > 0)
    return undefined;
  return { kind: 'delay', least, most };
}

function milliseconds(text: string): number | undefined {
  const [, number, unit] = /^(\d+)(ms|s)$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * (unit === 's' ? 1000 : 1);
}

function parseKill(moment: string): Fault | undefined {
  return moment === 'unsent' || moment === 'sent' || moment === 'answered'
    ? { kind: 'kill', moment }
    : undefined;
}

/** `429 retry-after 2`; seconds, as in the header */
function parseAnswer(words: string[]): Fault | undefined {
  const status = Number(words.shift());
  const asks = words[0] === 'retry-after';
  const retryAfter = asks ? Number(words.splice(0, 2)[1]) : undefined;
  const known = Number.isInteger(status) && status >= 400 && status <= 599;
  return known && !Number.isNaN(retryAfter) ? { kind: 'answer', status, retryAfter } : undefined;
}

const OF_CONNECTIONS: readonly Fault['kind'][] = ['delay', 'cut', 'silence'];
const OF_CALLS: readonly Fault['kind'][] = [
  'delay',
  'hold',
  'cut',
  'silence',
  'answer',
  'swallow',
  'mute',
  'truncate',
  'slow',
  'kill',
] as Fault['kind'][];
const OF_LINES: readonly Fault['kind'][] = [
  'delay',
  'hold',
  'cut',
  'silence',
  'answer',
  'truncate',
  'slow',
  'kill',
  'drop',
  'duplicate',
  'reorder',
  'garble',
] as Fault['kind'][];
const LINES: readonly Verb[] = VERBS.slice(VERBS.indexOf('LINE'));

function fits({ kind }: Fault, verb: Verb): boolean {
  if (verb === 'CONNECT') return OF_CONNECTIONS.includes(kind);
  return (LINES.includes(verb) ? OF_LINES : OF_CALLS).includes(kind);
}

function pathPattern(glob: string): RegExp {
  const escaped = glob.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`(?:^|/)${escaped}$`);
}
