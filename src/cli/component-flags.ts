// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { defaultHost } from '#app/component-options.ts';
import { parsedFlag } from '#app/flag-values.ts';
import type { Flag } from '#component/flag.ts';

/**
 * Adds the flags of a component's descriptor. The default of an address depends on the environment.
 */
export function addFlags(
  command: Command,
  flags: readonly Flag[],
  environment = process.env,
): Command {
  const host = defaultHost(environment);
  for (const each of flags) command.addOption(optionOf(each, host));
  return command;
}

function optionOf(given: Flag, host: string): Option {
  const { flag, help, parse, repeatable, shown, listens } = given;
  const option = new Option(flag, help);
  if (listens !== undefined) return option.default(`${host}:${listens}`);
  if (given.add !== undefined) return collected(option, given);
  if (repeatable === true) {
    const read = parse ?? ((text: string) => text);
    return option
      .argParser((text: string, before: readonly unknown[]) => [...before, parsedFlag(text, read)])
      .default([], shown);
  }
  if (parse !== undefined) option.argParser((text) => parsedFlag(text, parse));
  return option.default(given.default, shown);
}

/** Lets an option collect its values by {@link Flag.add}. */
function collected(option: Option, given: Flag): Option {
  option.argParser((text: string, before: object) =>
    parsedFlag(text, (value) => given.add?.(before, value) ?? before),
  );
  return given.default === undefined
    ? option.default(new Map(), 'none')
    : option.default(given.default, given.shown);
}
