/**
 * A place of opencode that is open: databases, trees and exports in it may contain the same sessions, so that what the
 * place was found to contain decides how each unit is read.
 */
import type {
  AdapterEnv,
  AdapterYield,
  Inventory,
  Issue,
  OpenedPlace,
  Place,
  ReadRequest,
  Unit,
} from "../../kit/sources/index.ts";
import type { Claims } from "./claims.ts";
import type { Found } from "../units.ts";
import { findIn, unitsOf } from "../units.ts";

export class OpenedOpencode implements OpenedPlace {
  readonly place: Place;
  readonly #machine: AdapterEnv;
  /** What the place contained when it was last listed, and which of it has which session. */
  #found: Found | undefined;
  #claims: Claims | undefined;

  constructor(place: Place, machine: AdapterEnv) {
    this.place = place;
    this.#machine = machine;
  }

  async *units(signal?: AbortSignal): AsyncGenerator<readonly (Unit | Issue)[]> {
    const found = await findIn(this.place, signal);
    this.#found = found;
    this.#claims = undefined;
    yield unitsOf(this.place, found);
  }

  async *read(unit: Unit, request: ReadRequest): AsyncGenerator<readonly AdapterYield[]> {
    const { read } = await import("./reader.ts");
    const { place } = this;
    yield* read(unit, { ...request, place, machine: this.#machine, claims: () => this.#claimed() });
  }

  async inventory(unit: Unit): Promise<Inventory> {
    const { inventory } = await import("./inventory.ts");
    return inventory(unit, await this.#listed(), this.#machine);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#found = undefined;
    this.#claims = undefined;
    return Promise.resolve();
  }

  async #listed(): Promise<Found> {
    this.#found ??= await findIn(this.place);
    return this.#found;
  }

  async #claimed(): Promise<Claims> {
    const found = await this.#listed();
    const { Claims: Claimed } = await import("./claims.ts");
    this.#claims ??= new Claimed(found, this.place, this.#machine);
    return this.#claims;
  }
}
