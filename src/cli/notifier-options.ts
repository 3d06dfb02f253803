// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { parseNetwork, type Network } from '../egress/networks.ts';
import type { ComponentOptions } from '../app/component-options.ts';
import { daysFlag, durationFlag, parsedFlag, positiveFlag } from '../app/flag-values.ts';
import { usageError } from '../errors.ts';
import { quote, quoteList } from '../quote.ts';
import { EVENT_NAMES, type EventName } from '../api/object/event-names.ts';

/** The flags of `notifier`. */
export interface NotifierOptions extends ComponentOptions {
  /** Name → where it is. */
  readonly target: ReadonlyMap<string, URL>;
  /** Name of a target → what it is told; absent: everything. */
  readonly targetEvents: ReadonlyMap<string, ReadonlySet<EventName>>;
  /** Name of a target → in whose name it is asked whether it wants events. */
  readonly handshake: ReadonlyMap<string, string>;
  readonly targetSecrets: string;
  readonly targetCa?: string;
  readonly targetNetwork: readonly Network[];
  readonly targetRate: number;
  readonly source?: string;
  /** Seconds. */
  readonly expiring: number;
  /** Seconds. */
  readonly giveUpAfter: number;
  readonly lookAtPods?: boolean;
}

const RATE = 20;
const WEEK_SECONDS = 7 * 86_400;
const DAY_SECONDS = 86_400;

/** Adds those of {@link NotifierOptions} that the other components do not have. */
export function addNotifierOptions(command: Command): Command {
  return addTargetOptions(command)
    .option(
      '--source <uri>',
      'source of all events: a URI reference that names this installation (default: /countersign/ and the namespace of the CA Secrets)',
    )
    .addOption(
      new Option(
        '--expiring <duration>',
        'how long before its end a certificate is told of that nobody has renewed; at most a third of its life, of a CA a tenth',
      )
        .argParser(daysFlag)
        .default(WEEK_SECONDS, '7d'),
    )
    .option(
      '--look-at-pods',
      'tell of certificates that pods have not renewed, too; it takes the permission to read pods',
    );
}

function addTargetOptions(command: Command): Command {
  return command
    .addOption(
      mapOption(
        '--target <name=url>',
        'https URL that events are POSTed to (repeatable)',
        targetOf,
      ),
    )
    .addOption(
      mapOption(
        '--target-events <name=event,...>',
        `what a target is told, of ${EVENT_NAMES.join(', ')} (repeatable; default: all of it)`,
        eventsOf,
      ),
    )
    .addOption(
      mapOption(
        '--handshake <name=origin>',
        'ask this target whether it allows events of this DNS name before any is sent: OPTIONS with WebHook-Request-Origin (repeatable)',
        originOf,
      ),
    )
    .option(
      '--target-secrets <directory>',
      'directory with a file for each target, of its name: the secret by which what is sent is signed, or two, one a line; read for each call',
      '/run/countersign/notifier',
    )
    .option(
      '--target-ca <file>',
      'PEM of the only CAs that certificates of targets may be of (default: those of Node.js)',
    )
    .addOption(
      new Option(
        '--target-network <network>',
        'network outside of the Internet that targets may be in, such as 10.96.0.0/12 (repeatable)',
      )
        .argParser((text: string, before: readonly Network[]) => [
          ...before,
          parsedFlag(text, parseNetwork),
        ])
        .default([]),
    )
    .addOption(
      new Option('--target-rate <number>', 'calls a second to each target at most')
        .argParser(positiveFlag)
        .default(RATE),
    )
    .addOption(
      new Option('--give-up-after <duration>', 'how long an event is tried that no answer takes')
        .argParser(durationFlag)
        .default(DAY_SECONDS, '24h'),
    );
}

/** An option `name=value` for one target each. */
function mapOption(flags: string, description: string, parse: (text: string) => unknown): Option {
  return new Option(flags, description)
    .argParser((text: string, before: ReadonlyMap<string, unknown>) =>
      parsedFlag(text, (given) => {
        const at = given.indexOf('=');
        const name = given.slice(0, Math.max(at, 0));
        if (!TARGET_NAME.test(name))
          throw usageError(`${quote(given)} does not begin with the name of a target and =`);
        if (before.has(name)) throw usageError(`target ${name} is named twice`);
        return new Map([...before, [name, parse(given.slice(at + 1))]]);
      }),
    )
    .default(new Map(), 'none');
}

/** It is a label of metrics, the name of a file, and part of a key of a ConfigMap. */
const TARGET_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const DNS_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** @throws SignerError USAGE */
function targetOf(text: string): URL {
  const url = URL.parse(text);
  const isPlain = url?.username === '' && url.password === '' && url.hash === '';
  if (url?.protocol === 'https:' && isPlain) return url;
  throw usageError(`${quote(text)} is no https URL without a user name`);
}

/** @throws SignerError USAGE */
function eventsOf(text: string): ReadonlySet<EventName> {
  const named = text.split(',').map((each) => {
    const found = EVENT_NAMES.find((name) => name === each);
    if (found === undefined)
      throw usageError(`${quote(each)} is no event; there are ${quoteList([...EVENT_NAMES])}`);
    return found;
  });
  return new Set(named);
}

/** @throws SignerError USAGE */
function originOf(text: string): string {
  if (DNS_NAME.test(text)) return text;
  throw usageError(`${quote(text)} is no DNS name in lower case`);
}
