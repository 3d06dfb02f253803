// SPDX-License-Identifier: Apache-2.0
import { goAccepts, oursInWords, type Judgement } from '../judge.ts';

const HEAD = `# The corpus

Files that somebody could send us, made anew by the files beside this one whenever the tests run: no key is
ever committed. \`node test/oracle/corpus/write.ts\` writes this table, and a test holds it to what is so.

Requests are read as a signer reads them before its policy looks: decoded, key and signature checked, names
in canonical form. Certificates are leaves below one root and verified with it. PEM is what \`spec.request\`
of a CertificateSigningRequest may be. Go is \`crypto/x509\`, or for PEM what the API server does with it;
OpenSSL is \`openssl req -verify\` and \`openssl verify -x509_strict\`, of version 3.0.

| file | what is wrong with it | source | ours | Go | OpenSSL |
| ---- | --------------------- | ------ | ---- | -- | ------- |
`;

export interface Row {
  readonly name: string;
  /** Everything but OpenSSL's verdict. */
  readonly text: string;
  readonly openssl: boolean;
}

const words = (accepted: boolean): string => (accepted ? 'accepted' : 'refused');

export function rowsOf(
  judged: readonly Judgement[],
  openssl: (name: string) => boolean,
): readonly Row[] {
  return judged.map((each) => {
    const { name, wrong, source } = each.case;
    const facts = [wrong === '' ? 'nothing' : wrong, source, oursInWords(each)];
    return {
      name,
      text: `| ${[`\`${name}\``, ...facts, words(goAccepts(each))].join(' | ')} |`,
      openssl: openssl(name),
    };
  });
}

export function writeTable(rows: readonly Row[]): string {
  return HEAD + rows.map(({ text, openssl }) => `${text} ${words(openssl)} |\n`).join('');
}

/** The names of what OpenSSL accepts, by a table that was written. */
export function readOpenssl(table: string): ReadonlySet<string> {
  const rows = table.split('\n').filter((line) => /^\| `.*\| accepted \|$/.test(line));
  return new Set(rows.map((line) => /`([^`]+)`/.exec(line)?.[1] ?? ''));
}
