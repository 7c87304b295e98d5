use std::sync::Arc; use cudalint::*;
fn main(){ let p=std::env::args().nth(1).unwrap(); let b=std::fs::read(&p).unwrap();
 let f=Arc::new(source::SourceFile::new(source::FileId(0),p.into(),b));
 let e=preproc::expand(&f,&preproc::Defines::default(),&preproc::NoIncludes); println!("{}\n{:?}",e.text(),e.masked);
 let t=syntax::SyntaxTree::parse(e).unwrap(); let m=lower::lower(&t); for r in &m.records { println!("{} align {:?}",r.name,r.align.is_some()); } }
