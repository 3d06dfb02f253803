// SPDX-License-Identifier: Apache-2.0
/** Writes README.md again after a case was added. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { acceptedByOpenssl, factsOf, judgeAll } from '../judge.ts';
import { Openssl } from '../openssl.ts';
import { openOracle } from '../oracle.ts';
import { CORPUS } from './index.ts';
import { HEAD } from './head.ts';
import { writeTable } from './table.ts';

await using oracle = await openOracle();
using openssl = new Openssl();
const judged = await judgeAll(CORPUS, oracle);
const accepted = await acceptedByOpenssl(judged, openssl);
const table = writeTable(HEAD, judged.map(factsOf), accepted);
writeFileSync(join(import.meta.dirname, 'README.md'), table);
