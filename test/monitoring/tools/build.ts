// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { buildGoProgram } from '../../go/build.ts';

const MODULE = join(import.meta.dirname, 'prometheus');
/** Without the service discovery of clouds and the pages, which are most of the build. */
const TAGS = '-tags=netgo,remove_all_sd';

type Log = (line: string) => void;

/** The path of the real promtool, which checks rules and runs their unit tests. */
export function buildPromtool(log: Log): Promise<string> {
  return build('promtool', log);
}

/** The path of the real prometheus, which scrapes and answers queries. */
export function buildPrometheus(log: Log): Promise<string> {
  return build('prometheus', log);
}

function build(name: string, log: Log): Promise<string> {
  return buildGoProgram(
    {
      name,
      moduleDirectory: MODULE,
      command: `github.com/prometheus/prometheus/cmd/${name}`,
      onePackageAtATime: true,
      flags: [TAGS],
      words: `building ${name}: minutes the first time`,
    },
    log,
  );
}

if (import.meta.main) {
  const say = (line: string): void => {
    console.error(line);
  };
  console.log(await buildPromtool(say));
  console.log(await buildPrometheus(say));
}
