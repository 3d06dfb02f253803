// SPDX-License-Identifier: Apache-2.0
/** Writes README.md anew, after somebody has added a case. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { acceptedByOpenssl, judgeAll } from '../judge.ts';
import { Openssl } from '../openssl.ts';
import { openOracle } from '../oracle.ts';
import { CORPUS } from './index.ts';
import { rowsOf, writeTable } from './table.ts';

await using oracle = await openOracle();
using openssl = new Openssl();
const judged = await judgeAll(CORPUS, oracle);
const accepted = await acceptedByOpenssl(judged, openssl);
const table = writeTable(rowsOf(judged, (name) => accepted.has(name)));
writeFileSync(join(import.meta.dirname, 'README.md'), table);
