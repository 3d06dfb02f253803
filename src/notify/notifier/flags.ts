// SPDX-License-Identifier: Apache-2.0
import { parseDuration } from '#api/object/duration.ts';
import { EVENT_NAMES, type EventName } from '#api/object/event-names.ts';
import { parseNetwork, type Network } from '#base/egress/networks.ts';
import { usageError } from '#base/errors.ts';
import { quote, quoteList } from '#base/quote.ts';
import { parseCount, parseDays, type Flag } from '#component/flag.ts';

/** Flags of `notifier`. */
export interface NotifierFlags {
  /** Target name → URL. */
  readonly target: ReadonlyMap<string, URL>;
  /** Target name → events to send. Without an entry, all events. */
  readonly targetEvents: ReadonlyMap<string, ReadonlySet<EventName>>;
  /** Target name → DNS name of the handshake. */
  readonly handshake: ReadonlyMap<string, string>;
  readonly targetSecrets: string;
  readonly targetCa?: string;
  readonly targetNetwork: readonly Network[];
  readonly targetRate: number;
  readonly source?: string;
  /** Seconds. */
  readonly expiring: number;
  /** Seconds. */
  readonly deliveryTimeout: number;
  readonly readPods?: boolean;
}

/** Mount path of the targets' secrets in the Deployment. */
export const NOTIFIER_DIRECTORY = '/run/countersign/notifier';

const RATE = 20;
const WEEK_SECONDS = 7 * 86_400;
const DAY_SECONDS = 86_400;

/** {@link NotifierFlags} */
export const NOTIFIER_FLAGS: readonly Flag[] = [
  {
    flag: '--target <name=url>',
    help: 'https URL that events are POSTed to (repeatable)',
    add: ofTarget(parseTarget),
  },
  {
    flag: '--target-events <name=event,...>',
    help: `events for a target, of ${EVENT_NAMES.join(', ')} (repeatable; default: all)`,
    add: ofTarget(parseEvents),
  },
  {
    flag: '--handshake <name=origin>',
    help: 'request permission for events of this DNS name before sending any: OPTIONS with WebHook-Request-Origin (repeatable)',
    add: ofTarget(parseOrigin),
  },
  {
    flag: '--target-secrets <directory>',
    help: 'directory with a file for each target, of its name: the secret that signs events, or two, one a line; read for each call',
    default: NOTIFIER_DIRECTORY,
  },
  {
    flag: '--target-ca <file>',
    help: 'PEM of the only CAs that certificates of targets may be of (default: those of Node.js)',
  },
  {
    flag: '--target-network <network>',
    help: 'network outside of the Internet that targets may be in, such as 10.96.0.0/12 (repeatable)',
    parse: parseNetwork,
    repeatable: true,
  },
  {
    flag: '--target-rate <number>',
    help: 'calls a second to each target at most',
    parse: parseCount,
    default: RATE,
  },
  {
    flag: '--delivery-timeout <duration>',
    help: 'how long to retry an event',
    parse: parseDuration,
    default: DAY_SECONDS,
    shown: '24h',
  },
  {
    flag: '--source <uri>',
    help: 'source of all events: a URI reference that names this installation (default: /countersign/ and the namespace of the CA Secrets)',
  },
  {
    flag: '--expiring <duration>',
    help: 'notify this long before an unrenewed certificate expires; at most a third of its lifetime, for a CA a tenth',
    parse: parseDays,
    default: WEEK_SECONDS,
    shown: '7d',
  },
  {
    flag: '--read-pods',
    help: 'also notify of certificates that pods have not renewed; needs permission to read pods',
  },
];

/** Reads `name=value`, once for each target. */
function ofTarget(
  parse: (text: string) => unknown,
): (before: ReadonlyMap<string, unknown>, text: string) => ReadonlyMap<string, unknown> {
  return (before, text) => {
    const at = text.indexOf('=');
    const name = text.slice(0, Math.max(at, 0));
    if (!TARGET_NAME.test(name))
      throw usageError(`${quote(text)} does not begin with the name of a target and =`);
    if (before.has(name)) throw usageError(`target ${name} is named twice`);
    return new Map([...before, [name, parse(text.slice(at + 1))]]);
  };
}

/**
 * Pattern of target names, which serve as a label of metrics, a file name, and part of a key of a
 * ConfigMap.
 */
const TARGET_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const DNS_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** @throws SignerError USAGE */
function parseTarget(text: string): URL {
  const url = URL.parse(text);
  const isPlain = url?.username === '' && url.password === '' && url.hash === '';
  if (url?.protocol === 'https:' && isPlain) return url;
  throw usageError(`${quote(text)} is not an https URL without a user name`);
}

/** @throws SignerError USAGE */
function parseEvents(text: string): ReadonlySet<EventName> {
  const named = text.split(',').map((each) => {
    const found = EVENT_NAMES.find((name) => name === each);
    if (found === undefined)
      throw usageError(`${quote(each)} is not an event; use one of ${quoteList([...EVENT_NAMES])}`);
    return found;
  });
  return new Set(named);
}

/** @throws SignerError USAGE */
function parseOrigin(text: string): string {
  if (DNS_NAME.test(text)) return text;
  throw usageError(`${quote(text)} is not a DNS name in lower case`);
}
