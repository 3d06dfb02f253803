// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { parseHttp01Grant } from '../../acme-solving/http/grants.ts';
import type { Http01Grant } from '../../acme-solving/http/grants.ts';
import { isInCluster, type ComponentOptions } from '../component-options.ts';
import { parsedFlag } from '../flag-values.ts';

/** The flag of every component that presents HTTP-01. */
export interface Http01Options {
  readonly http01Zone: readonly Http01Grant[];
}

/** The flags of `acme-responder`. */
export interface ResponderOptions extends ComponentOptions, Http01Options {
  readonly listenChallenges: string;
}

/** The port of the Deployment's containers. */
const PORT = 8089;

/** Adds those of {@link ResponderOptions} that the other components do not have. */
export function addResponderOptions(command: Command, environment = process.env): Command {
  const host = isInCluster(environment) ? '0.0.0.0' : '127.0.0.1';
  return addHttp01Options(command).option(
    '--listen-challenges <host:port>',
    'address for /.well-known/acme-challenge/',
    `${host}:${PORT}`,
  );
}

/** Adds {@link Http01Options}. */
export function addHttp01Options(command: Command): Command {
  return command.addOption(
    new Option(
      '--http01-zone <namespace=zone>',
      'let the AcmeSigners of a namespace prove the names of a zone by HTTP-01 (repeatable; default: none)',
    )
      .argParser((text: string, before: readonly Http01Grant[]) => [
        ...before,
        parsedFlag(text, parseHttp01Grant),
      ])
      .default([]),
  );
}
