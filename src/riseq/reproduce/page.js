// A click on a column's head sorts by it; rows without a number stay last, equal rows in their order.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  const heads = table.querySelectorAll("thead tr:last-child th");
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const read = (row) => {
        const cell = row.cells[column];
        if (column === 0) return cell.textContent;
        return cell?.dataset.value === undefined ? null : Number(cell.dataset.value);
      };
      const rows = [...body.rows];
      rows.sort((a, b) => {
        const [x, y] = [read(a), read(b)];
        if (x === null || y === null) return (x === null) - (y === null);
        const order = typeof x === "string" ? x.localeCompare(y) : x - y;
        return down ? -order : order;
      });
      body.append(...rows);
    });
  });
}
