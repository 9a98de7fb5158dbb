/** The contract of a stream while the process lives: found once, remembered in the database, and the same for every answer. */
import {
  type DaywalkError,
  EnvelopeError,
  FaultError,
  NoRecordsError,
  WalkError,
} from '../errors.ts';
import type { Claim, Contract, Page, Stream } from '../model.ts';
import type { ContractHints, FoundContract } from '../source/find-contract.ts';
import type { Source } from '../source/source.ts';
import { mayTellTotal } from '../source/total.ts';
import type { PageFacts } from '../store/bodies/page-facts.ts';
import type { Database } from '../store/database.ts';
import {
  addTotal,
  learnLaterTotal,
  openContract,
  recogniseFrame,
  rememberContract,
  showsRecordElsewhere,
} from '../store/evidence/contracts.ts';
import { readFault } from '../store/evidence/probes.ts';

/** Who looks through a first page, and shows texts of the source without its key. */
export type Reader = Pick<Source, 'findContract' | 'excerpt'>;

/** The frame of an answer without records. */
export interface Frame {
  readonly signature: string;
  /** It means that there is nothing. Otherwise it may, where it repeats and a known answer is as ever. */
  readonly known: boolean;
  /** An empty list where lists are, a total of 0 where totals are, and no word beside them. */
  readonly plain: boolean;
  /** Its beginning, without the key. */
  readonly example: string;
  /** Why it would be refused, were it not for other answers; null: it has the list of the stream. */
  readonly reason: DaywalkError | null;
}

/** What an answer says: what Postgres read in it, and the frame where it has no records. */
export type Facts<Read extends PageFacts = PageFacts> = Read & { readonly frame: Frame | null };

/** Reads a page whose list is where the contract says. */
export type Read<R extends PageFacts> = (page: Page, contract: Contract) => Promise<R>;

/** Where nothing is: the paths of an answer that shows no list, as long as no other has shown where lists are. */
const NOWHERE: Contract = { recordsPath: [''], totalPath: null, relationPath: null };

/** What finding a contract needs. */
interface ContractParts {
  readonly database: Database;
  readonly reader: Reader;
  readonly streamId: number;
  readonly hints: ContractHints;
}

/** Where a stream's answers have list and total, as far as it is known, and what each answer says. */
export class StreamContract {
  /** Null until an answer with records has shown it. */
  #known: Contract | null;
  #laterTotalLearned = false;
  readonly #parts: ContractParts;

  private constructor(parts: ContractParts, known: Contract | null) {
    this.#parts = parts;
    this.#known = known;
  }

  /** The contract as it was learned under these settings, or none. */
  static async open(
    database: Database,
    reader: Reader,
    stream: Pick<Stream, 'recordsPath' | 'totalPath'> & { readonly streamId: number },
  ): Promise<StreamContract> {
    const { streamId, recordsPath, totalPath } = stream;
    const hints = { recordsPath, totalPath };
    const known = await openContract(database, streamId, spelled(hints));
    return new StreamContract({ database, reader, streamId, hints }, known);
  }

  get known(): Contract | null {
    return this.#known;
  }

  /**
   * Has a page read. Before a list was shown the caller has one page read at a time: to look through it takes several times its memory.
   * @throws {EnvelopeError} where the answer is no page.
   * @throws {WalkError} where list and total are elsewhere than on the pages before of its walk.
   */
  async understand<R extends PageFacts>(page: Page, read: Read<R>): Promise<Facts<R>> {
    if (this.#known === null) return this.#find(page, read);
    this.#known = await this.#withTotal(this.#known, page);
    return this.#readAt(this.#known, page, read, null);
  }

  async #find<R extends PageFacts>(page: Page, read: Read<R>): Promise<Facts<R>> {
    const found = this.#look(page, this.#parts.hints);
    if (found instanceof NoRecordsError) return this.#readAt(NOWHERE, page, read, found);
    if (found instanceof EnvelopeError) {
      await this.#refuseFault(page, []);
      throw found;
    }
    // No evidence of where lists are: an empty one; nor of whether there is a total: a page that is not the first.
    if (found.records > 0 && page.start === 0) {
      await this.#refuseFault(page, found.recordsPath);
      const { database, streamId, hints } = this.#parts;
      this.#known = await rememberContract(database, streamId, spelled(hints), found);
    }
    return this.#readAt(this.#known ?? found, page, read, null);
  }

  /** What a page shows of where list and total are, or why it does not. */
  #look({ body }: Page, hints: ContractHints): FoundContract | EnvelopeError {
    try {
      return this.#parts.reader.findContract(body, hints);
    } catch (error) {
      if (error instanceof EnvelopeError) return error;
      throw error;
    }
  }

  async #refuseFault(page: Page, recordsPath: readonly string[]): Promise<void> {
    const fault = await readFault(this.#parts.database, page, recordsPath);
    if (fault !== null) throw this.#faulty(page, fault);
  }

  #faulty(page: Page, fault: string): FaultError {
    return new FaultError(
      `the answer at start ${page.start} tells of a failure: "${this.#parts.reader.excerpt(fault)}"`,
      {
        hint: 'the API itself reports this, so the answer is not stored; ask who runs the API',
      },
    );
  }

  /** Where the first answers told no total, a later one may: `null` stands there as long as nobody has counted. */
  async #withTotal(known: Contract, page: Page): Promise<Contract> {
    const { database, streamId, hints } = this.#parts;
    if (known.totalPath !== null || hints.totalPath !== undefined || page.start > 0) return known;
    if (!mayTellTotal(page.body)) return known;
    const found = this.#look(page, { recordsPath: known.recordsPath });
    // It is not what it was, which is told when it is read, or has several that differ.
    if (found instanceof EnvelopeError) return known;
    if (found.records === 0 || found.totalPath === null) return known;
    await this.#refuseFault(page, known.recordsPath);
    return addTotal(database, streamId, spelled(hints), found);
  }

  async #readAt<R extends PageFacts>(
    contract: Contract,
    page: Page,
    read: Read<R>,
    reason: NoRecordsError | null,
  ): Promise<Facts<R>> {
    let facts = await read(page, contract);
    // What pages with records say, too, is no failure: a code that stands in each answer.
    if (facts.fault !== null && (await this.#recognise(page, contract, facts)))
      facts = await read(page, contract);
    const { fault, listType, signature } = facts;
    if (fault !== null) throw this.#faulty(page, fault);
    // Where lists are bodies, an object may say that there is none.
    if (listType === 'object' && contract.recordsPath.length === 0)
      return this.#readAt(NOWHERE, page, read, reason);
    if (listType !== 'array' && listType !== 'null' && listType !== null)
      throw this.#listElsewhere(page, contract, listType);
    if (!facts.fits)
      throw new WalkError(
        'shifted',
        `the answer at start ${page.start} has list or total elsewhere than the pages before`,
      );
    if (signature === null) {
      if (page.refused !== undefined) throw page.refused;
      await this.#learnLaterTotal(page, facts);
      return { ...facts, frame: null };
    }
    return this.#empty(contract, page, read, facts, signature, page.refused ?? reason);
  }

  /** An answer without records: one without a list is not taken for it where something else may be the list now. */
  async #empty<R extends PageFacts>(
    contract: Contract,
    page: Page,
    read: Read<R>,
    facts: R,
    signature: string,
    reason: Error | null,
  ): Promise<Facts<R>> {
    // Where a person said that the list is, null is one without records, whatever other lists there are.
    const isNamed = facts.listType === 'null' && this.#parts.hints.recordsPath !== undefined;
    if (facts.listType !== 'array' && !isNamed && reason === null)
      this.#refuseOtherList(page, contract);
    if (this.#parts.hints.recordsPath === undefined) await this.#refuseRecord(page);
    const frame: Frame = {
      signature,
      known: facts.frameKnown,
      plain:
        facts.wordless &&
        facts.listType === 'array' &&
        (facts.total ?? 0) === 0 &&
        (contract.totalPath === null || facts.total !== null),
      example: this.#parts.reader.excerpt(page.body),
      reason: reason as DaywalkError | null,
    };
    if (!(await this.#recognise(page, contract, facts))) return { ...facts, frame };
    return { ...(await read(page, contract)), frame: { ...frame, known: true } };
  }

  /** Whether an answer without records is known from now on, because those with records have its frame. */
  async #recognise(
    page: Page,
    contract: Contract,
    { signature, frameKnown }: PageFacts,
  ): Promise<boolean> {
    if (signature === null || frameKnown) return false;
    const example = this.#parts.reader.excerpt(page.body);
    const { database, streamId } = this.#parts;
    return recogniseFrame(database, streamId, signature, example, page, contract);
  }

  #refuseOtherList(page: Page, contract: Contract): void {
    const found = this.#look(page, {});
    const shows =
      found instanceof EnvelopeError ? !(found instanceof NoRecordsError) : found.records > 0;
    if (shows) throw this.#listElsewhere(page, contract, 'nothing');
  }

  /** An empty list may stand beside another one that has the records, and one record alone may come without its list. */
  async #refuseRecord(page: Page): Promise<void> {
    if (this.#known === null) return;
    const holdsObjects = this.#known.recordsPath.length === 0 ? /^\s*\{|\[\s*\{/ : /\[\s*\{/;
    if (!holdsObjects.test(page.body.toString('latin1'))) return;
    if (await showsRecordElsewhere(this.#parts.database, this.#parts.streamId, page))
      throw this.#listElsewhere(page, this.#known, 'no record');
  }

  #listElsewhere(page: Page, { recordsPath }: Contract, listType: string): EnvelopeError {
    const place = recordsPath.length === 0 ? 'the top' : recordsPath.join('.');
    return new EnvelopeError(
      `the answer at start ${page.start} has ${listType} at ${place}, where the record list was: "${this.#parts.reader.excerpt(page.body)}"`,
      {
        hint: 'is this an error message? Only if the API changed its answers for good, run daywalk accept, or set records_path to where the list is now',
      },
    );
  }

  /** The first later page with records shows whether such pages tell the total. */
  async #learnLaterTotal(page: Page, { total }: PageFacts): Promise<void> {
    // Pages by number show the first one up to their length.
    if (this.#laterTotalLearned || page.start < page.length || this.#known?.totalPath == null)
      return;
    this.#laterTotalLearned = true;
    await learnLaterTotal(this.#parts.database, this.#parts.streamId, total !== null);
  }
}

/** The settings as they are kept beside what was learned under them. */
function spelled({ recordsPath, totalPath }: ContractHints): string {
  return JSON.stringify({ recordsPath, totalPath });
}

/** What an answer says of the window. */
export function claimOf({ start, length }: Pick<Page, 'start' | 'length'>, facts: Facts): Claim {
  const { came, total, lowerBound, totalMissing, more } = facts;
  return { start, length, came, total, lowerBound, totalMissing, more };
}
