// A picture of cells from white to black, which can be drawn on with a pointer or with the keyboard.
export default {
  template: `
    <div class="pixels">
      <canvas ref="canvas" :width="columns * scale" :height="rows * scale" :tabindex="editable ? 0 : null"
        :role="editable ? 'application' : 'img'" :aria-label="label" :aria-describedby="editable ? hint : null"
        :class="{ editable }" @pointerdown="begin" @pointermove="go" @pointerup="end" @pointercancel="end"
        @keydown="key" @focus="focused = true; draw()" @blur="focused = false; draw()"></canvas>
      <span v-if="editable" :id="hint" class="hidden">
        Arrow keys move, the space bar changes a cell in the chosen way.
      </span>
      <span v-if="editable" class="hidden" aria-live="polite">{{ spoken }}</span>
    </div>`,
  props: { rows: Number, columns: Number, count: Number, cells: String, label: String, editable: Boolean, mode: String },
  emits: ["stroke"],
  data: () => ({ focused: false, cursor: 0, spoken: "" }),
  computed: {
    scale() { return Math.max(1, Math.floor(448 / Math.max(this.rows, this.columns))); },
    hint() { return `hint-${this.$.uid}`; },
  },
  watch: { cells() { this.read(); } },
  created() { this.levels = []; },  // what is not shown by the template need not be watched
  mounted() { this.read(); new MutationObserver(() => this.draw()).observe(document.body, { attributeFilter: ["class"] }); },
  methods: {
    read() {
      this.levels = Uint8Array.from(atob(this.cells), (letter) => letter.charCodeAt(0));
      if (this.stroke) for (const cell of this.stroke) this.levels[cell] = this.turned(this.levels[cell]);
      this.draw();
    },
    draw() {
      const canvas = this.$refs.canvas;
      if (!canvas) return;
      const pen = canvas.getContext("2d"), s = this.scale, gap = s > 5 ? 1 : 0;
      const look = document.body.className + this.columns + this.count;
      if (look !== this.look || this.marked) {  // else only the cells that changed are drawn
        const style = getComputedStyle(canvas);
        [this.off, this.on] = ["--cell-off", "--cell-on"].map((name) =>
          style.getPropertyValue(name).trim().split(" ").map(Number));
        this.focus = style.getPropertyValue("--focus");
        this.look = look;
        this.painted = [];
        pen.clearRect(0, 0, canvas.width, canvas.height);
      }
      for (let i = 0; i < this.count; i++) {
        if (this.painted[i] === this.levels[i]) continue;
        const share = (this.painted[i] = this.levels[i]) / 255;
        pen.fillStyle = `rgb(${this.off.map((low, k) => Math.round(low + share * (this.on[k] - low))).join(" ")})`;
        pen.fillRect((i % this.columns) * s, Math.floor(i / this.columns) * s, s - gap, s - gap);
      }
      this.marked = this.editable && this.focused;
      if (this.marked) {
        pen.strokeStyle = this.focus;
        pen.lineWidth = 3;
        pen.strokeRect((this.cursor % this.columns) * s, Math.floor(this.cursor / this.columns) * s, s, s);
      }
      canvas.dataset.drawn = this.drawn = (this.drawn ?? 0) + 1;
    },
    turned(level) { return this.mode === "draw" ? 255 : this.mode === "erase" ? 0 : 255 - level; },
    touch(cell) {
      if (cell < 0 || cell >= this.count || this.stroke.includes(cell)) return;
      this.stroke.push(cell);
      this.levels[cell] = this.turned(this.levels[cell]);
    },
    under(event) {
      const box = this.$refs.canvas.getBoundingClientRect();
      const column = Math.floor(((event.clientX - box.left) / box.width) * this.columns);
      const row = Math.floor(((event.clientY - box.top) / box.height) * this.rows);
      return { row, column };
    },
    begin(event) {
      if (!this.editable) return;
      this.$refs.canvas.setPointerCapture(event.pointerId);
      this.stroke = [];
      this.from = this.under(event);
      this.go(event);
    },
    go(event) {
      if (!this.stroke) return;
      const to = this.under(event), from = this.from;
      const steps = Math.max(1, Math.abs(to.row - from.row), Math.abs(to.column - from.column));
      for (let k = 0; k <= steps; k++) {  // a quick pointer skips cells
        const row = Math.round(from.row + ((to.row - from.row) * k) / steps);
        const column = Math.round(from.column + ((to.column - from.column) * k) / steps);
        if (row >= 0 && column >= 0 && row < this.rows && column < this.columns) this.touch(row * this.columns + column);
      }
      this.from = to;
      this.draw();
    },
    end() {
      if (this.stroke?.length) this.$emit("stroke", { cells: this.stroke, mode: this.mode });
      this.stroke = null;
    },
    key(event) {
      if (!this.editable) return;
      const move = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.columns, ArrowDown: this.columns }[event.key];
      if (move !== undefined) {
        this.cursor = Math.min(Math.max(this.cursor + move, 0), this.count - 1);
      } else if (event.key === " " || event.key === "Enter") {
        this.stroke = [];
        this.touch(this.cursor);
        this.end();
      } else return;
      event.preventDefault();
      this.draw();
      const [row, column] = [Math.floor(this.cursor / this.columns) + 1, (this.cursor % this.columns) + 1];
      this.spoken = `row ${row}, column ${column}: ${this.levels[this.cursor] > 127 ? "on" : "off"}`;
    },
  },
};
