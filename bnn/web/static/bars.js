// Lines of a name and a bar: to the right of the middle what speaks for, to the left what speaks against.
export default {
  template: `
    <table class="bars" :class="{ signed }">
      <caption class="hidden">{{ label }}</caption>
      <thead><tr><th v-for="head in heads" :key="head" scope="col">{{ head }}</th></tr></thead>
      <tbody>
        <tr v-for="line in lines" :key="line.kind + ' ' + line.name" :class="line.kind">
          <th scope="row">{{ line.name }}<small v-if="line.note">{{ line.note }}</small></th>
          <td class="track"><div class="bar" :class="{ against: line.size < 0 }" :style="place(line.size)"></div></td>
          <td class="number">{{ line.told }}</td>
          <td v-if="heads.length > 3" class="number">{{ line.cases }}</td>
        </tr>
      </tbody>
    </table>`,
  props: { label: String, heads: { type: Array, default: () => [] }, lines: { type: Array, default: () => [] }, signed: Boolean, most: Number },
  methods: {
    place(size) {
      const share = Math.min(1, Math.abs(size) / (this.most || 1)) * (this.signed ? 50 : 100);
      const left = this.signed ? (size < 0 ? 50 - share : 50) : 0;
      return { left: `${left}%`, width: `${share}%` };
    },
  },
};
