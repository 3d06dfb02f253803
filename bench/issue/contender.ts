// SPDX-License-Identifier: Apache-2.0
/**
 * A contender of `make bench-issue` that runs in Node, in a process of its own: reads how many
 * leaves to issue from each line, and answers with the CPU time that it took and the last of them.
 * The Go program in `program/` speaks the same.
 */
import { createInterface } from 'node:readline';
import { signBare } from './bare.ts';
import { builtInStep, libraryStep } from './library.ts';
import { issueByStep, issueLinted, issueUnlinted, issueWhole } from './ours.ts';
import { issueByPkijs } from './pkijs.ts';
import { type Issue, type Kind, readWork, type Work } from './work.ts';

type Make = (work: Work, kind: Kind) => Issue | Promise<Issue>;

const MAKERS: Readonly<Record<string, Make>> = {
  'bare-sign': signBare,
  issue: issueUnlinted,
  'issue-linted': issueLinted,
  'issue-whole': issueWhole,
  library: (work, kind) => issueByStep(work, kind, libraryStep(work)),
  'built-in': (work, kind) => issueByStep(work, kind, builtInStep(work)),
  pkijs: (work, kind) => issueByPkijs(work, kind, false),
  'pkijs-whole': (work, kind) => issueByPkijs(work, kind, true),
};

const [file = '', name = '', kind = ''] = process.argv.slice(2);
const issue = await MAKERS[name]?.(readWork(file), kind as Kind);
if (issue === undefined) throw new Error(`no contender ${name}`);

for await (const line of createInterface({ input: process.stdin })) {
  const before = process.cpuUsage();
  let last: Uint8Array = new Uint8Array();
  for (let index = 0; index < Number(line); index++) {
    const made = issue(index);
    last = made instanceof Promise ? await made : made;
  }
  const { user, system } = process.cpuUsage(before);
  const encoded = Buffer.from(last).toString('base64');
  console.log(JSON.stringify({ cpuMicroseconds: user + system, last: encoded }));
}
