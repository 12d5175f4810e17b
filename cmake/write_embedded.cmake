# Run at build time by dikkat_embed: files as arrays of bytes, so that no content can break out of a literal.
string(REPLACE "|" ";" files "${FILES}")
set(arrays "")
set(rows "")
set(count 0)
foreach(file ${files})
  get_filename_component(name "${file}" NAME)
  file(SIZE "${file}" bytes)
  file(READ "${file}" content HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," content "${content}")
  string(APPEND arrays "constexpr char kFile${count}[] = {${content}'\\0'};\n")
  string(APPEND rows "    {\"${name}\", {kFile${count}, ${bytes}}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"

namespace ${NAMESPACE} {
namespace {

${arrays}
constexpr ${STRUCT} kFiles[] = {
${rows}};

}  // namespace

std::span<const ${STRUCT}> ${FUNCTION}() { return kFiles; }

}  // namespace ${NAMESPACE}
")
