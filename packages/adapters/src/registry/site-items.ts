/** The rows of one kind, by site. The rows of a site are in the order in which they were last put. */
export class SiteItems<Item extends { readonly siteId: string }> {
  readonly #bySite = new Map<string, readonly Item[]>();
  readonly #idOf: (item: Item) => string;

  constructor(idOf: (item: Item) => string) {
    this.#idOf = idOf;
  }

  of(siteId: string): readonly Item[] {
    return this.#bySite.get(siteId) ?? [];
  }

  put(item: Item): void {
    this.#bySite.set(item.siteId, [...this.#others(item), item]);
  }

  take(item: Item): void {
    const others = this.#others(item);
    if (others.length === 0) this.#bySite.delete(item.siteId);
    else this.#bySite.set(item.siteId, others);
  }

  #others(item: Item): readonly Item[] {
    return this.of(item.siteId).filter((other) => this.#idOf(other) !== this.#idOf(item));
  }
}
