// SPDX-License-Identifier: Apache-2.0
import { InvalidArgumentError, Option, type Command } from 'commander';
import { parseNetwork, type Network } from '../../egress/networks.ts';
import {
  addDnsOptions,
  addNamespacedOptions,
  type DnsOptions,
  type NamespacedOptions,
} from './dns-options.ts';
import { parsedFlag } from '../flag-values.ts';

/** The flags of the component that looks whether a Challenge can be seen. */
export interface SelfCheckOptions extends DnsOptions, NamespacedOptions {
  readonly selfCheckNetwork: readonly Network[];
  readonly selfCheckPorts?: { readonly http: number; readonly https: number };
}

/** Adds {@link SelfCheckOptions}. */
export function addSelfCheckOptions(command: Command): Command {
  return addNamespacedOptions(addDnsOptions(command))
    .addOption(
      new Option(
        '--self-check-network <network>',
        'network that the self-check of HTTP-01 may ask although it is no part of the Internet, such as 10.0.0.0/8 (repeatable)',
      )
        .argParser((text: string, before: readonly Network[]) => [
          ...before,
          parsedFlag(text, parseNetwork),
        ])
        .default([]),
    )
    .addOption(
      new Option(
        '--self-check-ports <http,https>',
        'ports that the ACME server asks in place of 80 and 443, as test servers do',
      ).argParser(portsFlag),
    );
}

/** @throws InvalidArgumentError */
function portsFlag(text: string): { readonly http: number; readonly https: number } {
  const { http, https } = /^(?<http>\d{1,5}),(?<https>\d{1,5})$/.exec(text)?.groups ?? {};
  const ports = { http: Number(http), https: Number(https) };
  if (ports.http > 0 && ports.http < 65_536 && ports.https > 0 && ports.https < 65_536)
    return ports;
  throw new InvalidArgumentError('write two ports, such as 8080,8443');
}
